import type { IncomingHttpHeaders } from 'node:http';
import { classifyInboundRequest } from '@modelcontextprotocol/server';
import type { ToolResult } from '../calls/result.ts';
import type { ToolList } from '../tools/lists.ts';
import type { AddressRequest } from './elicitation.ts';
import { type CalledTool, calledTool, idOf, isObject, type JsonObject, VERSION_KEY } from './message.ts';
import { LEGACY_VERSIONS, MODERN_VERSION, type ServerInfo } from './protocol.ts';

/*
 * `tools/list` and `tools/call` without the SDK's machinery, for requests that are plainly right. Everything else
 * (other methods, progress, odd headers, odd shapes, errors of the protocol) goes through the SDK, so what is refused,
 * and how, is decided there; `fast-path.db.test.ts` compares the answers of both ways.
 *
 * Why: per request the SDK makes a web Request, a server, a transport and a Response, and parses with zod. Measured on
 * 2 shared cores with 64 connections and 70 tools (requests per second, nothing else in the handler):
 *
 *                                        tools/call   tools/list
 *   McpServer per request, as documented       430           46
 *   one long-lived McpServer with a session  1,700            –
 *   low-level Server per request             1,500        1,350
 *   Fastify route with a prepared string     4,800        5,500
 */

export interface FastRequest {
  era: 'modern' | 'legacy';
  id: string | number;
  /** Null for `tools/list`. */
  call: CalledTool | null;
}

export type ReadFast = (message: JsonObject, headers: IncomingHttpHeaders) => FastRequest | undefined;

const ENVELOPES_MAX = 1_000;
const ENVELOPE_LENGTH_MAX = 4_096;

export function createFastReader(): ReadFast {
  // A client sends the same envelope with every request: what the SDK accepted once, to the letter, it accepts again.
  const acceptedEnvelopes = new Set<string>();

  function isAcceptedEnvelope(message: JsonObject, meta: JsonObject, headers: IncomingHttpHeaders): boolean {
    const text = JSON.stringify(meta);
    if (acceptedEnvelopes.has(text)) return true;
    if (text.length > ENVELOPE_LENGTH_MAX) return false;
    const outcome = classifyInboundRequest({
      httpMethod: 'POST',
      protocolVersionHeader: headers['mcp-protocol-version'] as string,
      mcpMethodHeader: headers['mcp-method'] as string,
      body: message,
    });
    if (outcome.kind !== 'modern' || outcome.classification.revision !== MODERN_VERSION) return false;
    if (acceptedEnvelopes.size >= ENVELOPES_MAX) acceptedEnvelopes.clear();
    acceptedEnvelopes.add(text);
    return true;
  }

  function isModern(message: JsonObject, params: JsonObject, headers: IncomingHttpHeaders): boolean {
    const meta = params._meta;
    if (headers['mcp-protocol-version'] !== MODERN_VERSION || headers['mcp-method'] !== message.method)
      return false;
    if (message.method === 'tools/call' && headers['mcp-name'] !== params.name) return false;
    if (!isObject(meta) || meta[VERSION_KEY] !== MODERN_VERSION || 'progressToken' in meta) return false;
    return isAcceptedEnvelope(message, meta, headers);
  }

  return (message, headers) => {
    const { method, params = {} } = message;
    if (method !== 'tools/call' && method !== 'tools/list') return undefined;
    const id = idOf(message);
    if (message.jsonrpc !== '2.0' || id === null || !isObject(params)) return undefined;
    if (hasOther(message, MESSAGE_MEMBERS)) return undefined;
    if (hasOther(params, method === 'tools/call' ? CALL_MEMBERS : LIST_MEMBERS)) return undefined;
    const call = method === 'tools/call' ? calledTool(message) : null;
    if (call === undefined) return undefined;
    if (isModern(message, params, headers)) return { era: 'modern', id, call };
    return isPlainLegacy(params, headers) ? { era: 'legacy', id, call } : undefined;
  };
}

const MESSAGE_MEMBERS: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
const CALL_MEMBERS: ReadonlySet<string> = new Set(['name', 'arguments', '_meta']);
const LIST_MEMBERS: ReadonlySet<string> = new Set(['_meta']);

function hasOther(object: JsonObject, known: ReadonlySet<string>): boolean {
  for (const member in object) if (!known.has(member)) return true;
  return false;
}

/** The transport of that era insists on both types; it answers with events or, as here, with plain JSON. */
function isPlainLegacy(params: JsonObject, headers: IncomingHttpHeaders): boolean {
  const version = headers['mcp-protocol-version'];
  const { accept = '' } = headers;
  return (
    params._meta === undefined &&
    (version === undefined || LEGACY_VERSIONS.includes(version as string)) &&
    accept.includes('application/json') &&
    accept.includes('text/event-stream')
  );
}

/** In two parts, of which the first is the same for everyone who sees this list. */
export interface ListBody {
  head: Buffer;
  tail: string;
}

/** Bodies of answers, as the SDK words them for each era. */
export interface FastAnswers {
  list(request: FastRequest, list: ToolList): ListBody;
  call(request: FastRequest, result: ToolResult): string;
  /** Of the newest revision alone. */
  ask(request: FastRequest, asked: AddressRequest): string;
}

export function createFastAnswers(serverInfo: ServerInfo): FastAnswers {
  const stamp = `"_meta":${JSON.stringify({ 'io.modelcontextprotocol/serverInfo': serverInfo })}`;
  const listEnd = {
    modern: `,"resultType":"complete","ttlMs":0,"cacheScope":"private",${stamp}`,
    legacy: '',
  };
  const callEnd = { modern: `,"resultType":"complete",${stamp}`, legacy: '' };
  const idEnd = (id: string | number) =>
    `,"jsonrpc":"2.0","id":${typeof id === 'number' ? id : JSON.stringify(id)}}`;
  // The bytes of a list are the same for all but the id, which comes last: encoding or copying 100 KB anew for each
  // request costs more than everything else that is done for it.
  const prepared = new WeakMap<ToolList, Partial<Record<FastRequest['era'], Buffer>>>();
  return {
    list({ era, id }, list) {
      let byEra = prepared.get(list);
      if (byEra === undefined) {
        byEra = {};
        prepared.set(list, byEra);
      }
      byEra[era] ??= Buffer.from(`{"result":{"tools":${list.json}${listEnd[era]}}`);
      return { head: byEra[era], tail: idEnd(id) };
    },
    ask: ({ id }, asked) => `{"result":${JSON.stringify(asked).slice(0, -1)},${stamp}}${idEnd(id)}`,
    call: ({ era, id }, result) =>
      `{"result":${JSON.stringify(result).slice(0, -1)}${callEnd[era]}}${idEnd(id)}`,
  };
}
