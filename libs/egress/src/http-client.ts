import type { Readable } from 'node:stream';
import {
  currentTrace,
  type JsonFault,
  type JsonLimits,
  JsonRefused,
  measureJson,
  nextTraceparent,
  parseInSlices,
} from '@libs/runtime';
import { createGuardedAgent, type Dispatcher } from './agent.ts';
import type { EgressPolicy } from './policy.ts';

const BODILESS_STATUS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

export interface HttpClientOptions {
  /** For the whole exchange, from the first look-up to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly answerBytesMax: number;
  readonly connectionsPerOrigin?: number;
}

export interface HttpRequest {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** Called when the request begins to leave on its connection: from here on the other side may have acted on it. */
  readonly onLeaving?: () => void;
}

export interface HttpClient {
  /** The answer, read to its end. Rejects where none came; redirects are answers. */
  request(url: string | URL, request?: HttpRequest): Promise<Response>;
  close(): Promise<void>;
}

/** The other side sent what we do not read: too much of it, or packed. The message completes "the server …". */
export class AnswerRefused extends Error {
  override readonly name = 'AnswerRefused';
}

/** Enough for the largest page of any vendor; a parser's time is bounded by it, as its memory is by the bytes. */
const ANSWER_JSON_LIMITS: JsonLimits = { valuesMax: 100_000, depthMax: 64 };

/**
 * A client whose every connection is checked by the guard, and whose answers are bounded before anybody parses them: in
 * time, in bytes, and in values and depth where they look like JSON. Packed answers are not asked for and not read, so
 * that the bytes on the line are the bytes in memory.
 */
export function createHttpClient(policy: EgressPolicy, options: HttpClientOptions): HttpClient {
  const { timeoutMs, answerBytesMax, connectionsPerOrigin } = options;
  const agent = createGuardedAgent(
    policy,
    connectionsPerOrigin === undefined ? {} : { connectionsPerOrigin },
  );
  return {
    async request(url, request = {}) {
      const target = new URL(url);
      const deadline = AbortSignal.timeout(timeoutMs);
      const { onLeaving } = request;
      const dispatcher = onLeaving === undefined ? agent : agent.compose(watchLeaving(onLeaving));
      const answer = await dispatcher.request({
        origin: target.origin,
        path: `${target.pathname}${target.search}`,
        method: (request.method ?? 'GET') as 'GET',
        headers: { 'accept-encoding': 'identity', ...traceHeader(), ...request.headers },
        body: request.body ?? null,
        signal: request.signal === undefined ? deadline : AbortSignal.any([request.signal, deadline]),
      });
      const body = await readAnswer(answer, answerBytesMax);
      return new Response(BODILESS_STATUS.has(answer.statusCode) ? null : body, {
        status: answer.statusCode,
        headers: Object.entries(answer.headers).flatMap(([name, value]) =>
          [value ?? []].flat().map((one): [string, string] => [name, one]),
        ),
      });
    },
    close: () => agent.close(),
  };
}

/** Whoever is called on behalf of a traced request can find it again. */
function traceHeader(): Record<string, string> {
  const trace = currentTrace();
  return trace === undefined ? {} : { traceparent: nextTraceparent(trace) };
}

/** undici tells a request's handler when it has a connection and is about to write to it. */
function watchLeaving(onLeaving: () => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(
      options,
      new Proxy(handler, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name, target);
          if (typeof value !== 'function') return value;
          const isStart = name === 'onRequestStart' || name === 'onConnect';
          return (...values: unknown[]) => {
            if (isStart) onLeaving();
            return Reflect.apply(value, target, values);
          };
        },
      }),
    );
}

async function readAnswer(
  { body, headers }: Dispatcher.ResponseData,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== '' && encoding !== 'identity') {
    // Its end is our doing, and no news to anybody.
    body.on('error', () => {});
    body.destroy();
    throw new AnswerRefused('sent a packed answer that nobody asked for');
  }
  const bytes = await readBounded(body, bytesMax);
  await checkJson(Buffer.from(bytes.buffer));
  return bytes;
}

const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** However much white space comes first, and with the mark that readers of JSON leave out. */
function looksLikeJson(bytes: Buffer): boolean {
  const text = withoutMark(bytes);
  let position = 0;
  while (SPACES.has(text[position] ?? 0)) position += 1;
  return text[position] === OPEN_BRACE || text[position] === OPEN_BRACKET;
}

function withoutMark(bytes: Buffer): Buffer {
  const { length } = BYTE_ORDER_MARK;
  return bytes.subarray(0, length).equals(BYTE_ORDER_MARK) ? bytes.subarray(length) : bytes;
}

/** Counting what is longer would hold up everything else, so it goes in slices. */
const LARGE_BYTES = 256 * 1024;

async function checkJson(bytes: Buffer): Promise<void> {
  if (!looksLikeJson(bytes)) return;
  const fault = bytes.length > LARGE_BYTES ? await faultInSlices(bytes) : excessOf(bytes);
  if (fault !== null) throw new AnswerRefused(FAULTS[fault]);
}

type Fault = Exclude<JsonFault, 'syntax'>;

const FAULTS: Readonly<Record<Fault, string>> = {
  values: `sent more than ${ANSWER_JSON_LIMITS.valuesMax} values`,
  depth: `sent more than ${ANSWER_JSON_LIMITS.depthMax} levels`,
  encoding: 'sent text that is not UTF-8',
  repeated_key: 'sent an object that has a key twice',
};

function excessOf(bytes: Buffer): Fault | null {
  const shape = measureJson(bytes, ANSWER_JSON_LIMITS);
  return 'exceeded' in shape ? shape.exceeded : null;
}

/** Behind a fault nothing was counted, so what has one is refused, but for what no parser reads beyond. */
async function faultInSlices(bytes: Buffer): Promise<Fault | null> {
  try {
    await parseInSlices(withoutMark(bytes), ANSWER_JSON_LIMITS);
    return null;
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    return error.fault === 'syntax' ? null : error.fault;
  }
}

/** Read to its end here, so that no caller can forget to and no connection stays taken. */
async function readBounded(body: Readable, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop destroys the stream and with it the connection.
    if (bytes > bytesMax) throw new AnswerRefused(`sent more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
