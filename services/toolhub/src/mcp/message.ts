import { type ReadJson, readJson, readLargeJson } from '@libs/http';
import { AppError } from '@libs/runtime';
import type { ArgumentFault } from '../tools/arguments.ts';
import { CALL_TOOL } from '../tools/tool.ts';

/** `inner` is set where `tools_call` named it. */
export interface CalledTool {
  name: string;
  args: JsonObject;
  inner?: true;
}

export type JsonObject = { [member: string]: unknown };

/** A body as far as it can be read without knowing the era of its sender. */
export type ReadBody =
  | { kind: 'message'; message: JsonObject; badText: readonly ArgumentFault[] }
  | { kind: 'refused'; code: number; detail: string };

/** Callers know the arguments of a tool, not the message around them. */
const ARGUMENTS = /^\/params\/arguments(?=\/)/;
/** Where a message of the newest revision says which it is. */
export const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

/**
 * One JSON-RPC message per request. Batches were part of one revision only and are refused. Depth, repeated keys and
 * the encoding are checked by the strict parser; texts that cannot be stored do not make the message unreadable, so
 * that a call with such an argument is answered as one with a bad argument.
 */
export function readBody(body: Buffer): ReadBody {
  try {
    return readMessage(readJson(body));
  } catch (error) {
    return refusalOf(error);
  }
}

/** The same for a body that is too large to be read in one go. */
export async function readLargeBody(body: Buffer): Promise<ReadBody> {
  try {
    return readMessage(await readLargeJson(body));
  } catch (error) {
    return refusalOf(error);
  }
}

function refusalOf(error: unknown): ReadBody {
  // Too much is the transport's affair (413), as a body of too many bytes is.
  if (!(error instanceof AppError) || error.kind === 'too_large') throw error;
  return { kind: 'refused', code: PARSE_ERROR, detail: error.detail };
}

function readMessage(read: ReadJson): ReadBody {
  const { value } = read;
  const badText = read.badText.map(({ pointer = '', code, detail }) => ({
    pointer: pointer.replace(ARGUMENTS, ''),
    code,
    detail,
  }));
  if (Array.isArray(value))
    return {
      kind: 'refused',
      code: INVALID_REQUEST,
      detail: 'Batches are not taken: send one message per request.',
    };
  if (!isObject(value))
    return { kind: 'refused', code: INVALID_REQUEST, detail: 'The body is not a JSON-RPC message.' };
  const label = longLabel(value);
  if (label !== undefined) {
    const detail = `The ${label} of the message has more than ${LABEL_LENGTH_MAX} characters.`;
    return { kind: 'refused', code: INVALID_REQUEST, detail };
  }
  return { kind: 'message', message: value, badText };
}

/** What an answer repeats of its message, by the protocol or in the library's words. */
const LABEL_LENGTH_MAX = 1_024;

function longLabel({ id, method, params }: JsonObject): string | undefined {
  const { name, uri, _meta: meta } = isObject(params) ? params : ({} as JsonObject);
  const { [VERSION_KEY]: version, progressToken } = isObject(meta) ? meta : ({} as JsonObject);
  const labels = { id, method, name, uri, 'protocol version': version, 'progress token': progressToken };
  return Object.entries(labels).find(
    ([, text]) => typeof text === 'string' && text.length > LABEL_LENGTH_MAX,
  )?.[0];
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The id to answer with; null where the message has none that JSON-RPC knows. */
export function idOf(message: JsonObject): string | number | null {
  const { id } = message;
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id)) ? id : null;
}

export function errorBody(id: string | number | null, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id });
}

/** The tool that a message calls, if it calls one. */
export function calledTool(message: JsonObject): CalledTool | undefined {
  const { method, params } = message;
  if (method !== 'tools/call' || !isObject(params) || typeof params.name !== 'string') return undefined;
  const { name, arguments: args = {} } = params;
  return isObject(args) ? { name, args } : undefined;
}

/**
 * The call that is meant: `tools_call` stands for the tool that its arguments name, if the session has it. All rungs of
 * the ladder, the usage and the audit then see that tool, and pointers lead into its own arguments.
 */
export function meantCall(called: CalledTool, reaches: (name: string) => boolean): CalledTool {
  if (called.name !== CALL_TOOL) return called;
  const { name, arguments: args = {}, ...others } = called.args;
  const isMeant =
    typeof name === 'string' && reaches(name) && isObject(args) && Object.keys(others).length === 0;
  return isMeant ? { name, args, inner: true } : called;
}

/** Callers know the arguments of the tool that they mean. */
export function withinArguments(faults: readonly ArgumentFault[]): ArgumentFault[] {
  return faults.map((fault) => ({ ...fault, pointer: fault.pointer.replace(/^\/arguments(?=\/)/, '') }));
}
