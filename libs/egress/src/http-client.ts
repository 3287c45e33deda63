import type { Readable } from 'node:stream';
import { currentTrace, nextTraceparent } from '@libs/runtime';
import type { Agent, Dispatcher } from './agent.ts';
import { faultOfJson } from './answer-json.ts';
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

/** The other side answered with a status that is none (RFC 9110 15): whatever it means, it is no yes. */
export class StatusRefused extends Error {
  override readonly name = 'StatusRefused';
  readonly status: number;

  constructor(status: number) {
    super(`refused with HTTP ${status}`);
    this.status = status;
  }
}
const STATUS_MAX = 599;

/**
 * A client whose every connection is checked by the guard, and whose answers are bounded before anybody parses them: in
 * time, in bytes, and in values and depth where they look like JSON. Packed answers are not asked for and not read, so
 * that the bytes on the line are the bytes in memory.
 */
export function createHttpClient(policy: EgressPolicy, options: HttpClientOptions): HttpClient {
  const { timeoutMs, answerBytesMax, connectionsPerOrigin } = options;
  let opened: Promise<Agent> | undefined;
  /** The library is loaded with the first request: it is a sixth of what a process of Payments loads, which sends none by it. */
  const open = async (): Promise<Agent> => {
    const { createGuardedAgent } = await import('./agent.ts');
    return createGuardedAgent(policy, connectionsPerOrigin === undefined ? {} : { connectionsPerOrigin });
  };
  return {
    async request(url, request = {}) {
      const target = new URL(url);
      const deadline = AbortSignal.timeout(timeoutMs);
      const { onLeaving } = request;
      opened ??= open();
      const agent = await opened;
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
      if (answer.statusCode > STATUS_MAX) throw new StatusRefused(answer.statusCode);
      return new Response(BODILESS_STATUS.has(answer.statusCode) ? null : body, {
        status: answer.statusCode,
        headers: Object.entries(answer.headers).flatMap(([name, value]) =>
          [value ?? []].flat().map((one): [string, string] => [name, one]),
        ),
      });
    },
    close: async () => (await opened)?.close(),
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
  const fault = await faultOfJson(Buffer.from(bytes.buffer));
  if (fault !== null) throw new AnswerRefused(fault);
  return bytes;
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
