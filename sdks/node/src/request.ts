import { randomUUID } from 'node:crypto';
import { type Outcome, readObject, refused } from './answer.ts';
import { checkOptions, type RequestInfo, readNumber, type Settings } from './config.ts';
import { ConnectionFailedError, PaymentsError } from './errors.ts';
import { delayBeforeRetry } from './retry.ts';
import { API_VERSION, VERSION } from './version.ts';

const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,257}$/;
const HEADER_NAME = /^[-!#$%&'*+.^_`|~0-9A-Za-z]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const TIMEOUT_MS_MAX = 10 * 60_000;
const RETRIES_MAX = 20;

/** What a single call may change. */
export interface RequestOptions {
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  /** Ends the call, its retries and its waiting. */
  signal?: AbortSignal | undefined;
}

export interface WriteOptions extends RequestOptions {
  /** Of your own, where the same request may be sent by another process too; otherwise a new one is made per call. */
  idempotencyKey?: string | undefined;
}

const optionNames = [
  'timeoutMs',
  'maxRetries',
  'headers',
  'signal',
  'idempotencyKey',
] as const satisfies readonly (keyof WriteOptions)[];

export type QueryValue =
  | string
  | number
  | boolean
  | Date
  | null
  | undefined
  | Readonly<Record<string, string>>;

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  query?: object | undefined;
  body?: unknown;
  options?: WriteOptions | undefined;
}

interface Prepared {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
  timeoutMs: number;
  maxRetries: number;
  signal: AbortSignal | undefined;
  /** Whether the answer is given out before its last byte has come. */
  staysOpen: boolean;
}

/** An answer while it still arrives. Whoever is done with it, or no longer wants it, closes it. */
export interface OpenAnswer {
  response: Response;
  close(): Promise<void>;
}

/** Makes something of an answer. `release` lets go of the caller's signal, which otherwise holds on to what still arrives. */
type Read<Value> = (response: Response, release: () => void) => Promise<Value>;

/** Sends requests: the same bytes and the same key at every try, until one gets an answer that stands. */
export class HttpClient {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  get origin(): string {
    return new URL(this.#settings.baseUrl).origin;
  }

  /** Of one try, where its call says nothing else. */
  get timeoutMs(): number {
    return this.#settings.timeoutMs;
  }

  /** The object of the answer; undefined for a deletion. */
  async send<Value>(request: ApiRequest): Promise<Value> {
    return (await this.#repeat(this.#prepare(request), (response) =>
      readObject(response, request.method, this.origin),
    )) as Value;
  }

  /** The answer while it still arrives. Failures before its first byte are retried, later ones are the caller's. */
  async open(request: ApiRequest, accept: string): Promise<OpenAnswer> {
    const prepared = this.#prepare(request);
    prepared.headers.accept = accept;
    prepared.staysOpen = true;
    let opened: OpenAnswer | undefined;
    try {
      return await this.#repeat(prepared, async (response, release) => {
        opened = {
          response,
          async close() {
            release();
            // Whoever stops reading hangs up; the answer's own failure has been reported already.
            if (response.body?.locked === false) await response.body.cancel().catch(() => undefined);
          },
        };
        return opened;
      });
    } catch (error) {
      // Where a hook throws at an answer, nobody is there to read it.
      await opened?.close();
      throw error;
    }
  }

  #prepare({ method, path, query, body, options = {} }: ApiRequest): Prepared {
    checkOptions(options, optionNames);
    const settings = this.#settings;
    const headers: Record<string, string> = {
      accept: 'application/json',
      'api-version': API_VERSION,
      'user-agent': `payments-api-node/${VERSION} (node ${process.version}; ${process.platform})`,
      ...lowerCased(settings.headers),
      ...lowerCased(options.headers),
    };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (method === 'POST') {
      headers['idempotency-key'] = readKey(options.idempotencyKey ?? headers['idempotency-key']);
    }
    return {
      method,
      url: `${settings.baseUrl}${path}${queryString(query)}`,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      timeoutMs: readNumber('timeoutMs', options.timeoutMs ?? settings.timeoutMs, 1, TIMEOUT_MS_MAX),
      maxRetries: readNumber('maxRetries', options.maxRetries ?? settings.maxRetries, 0, RETRIES_MAX),
      signal: options.signal,
      staysOpen: false,
    };
  }

  async #repeat<Value>(request: Prepared, read: Read<Value>): Promise<Value> {
    let outcomeUnknown = false;
    for (let attempt = 1; ; attempt += 1) {
      request.signal?.throwIfAborted();
      const startedMs = performance.now();
      const info: RequestInfo = {
        method: request.method,
        url: request.url,
        headers: { ...request.headers },
        attempt,
      };
      this.#settings.onRequest?.(info);
      checkHeaders(info.headers);
      const outcome = await this.#attempt(request, info.headers, read);
      // A user's abort is no failure of the connection, and nothing to try again.
      request.signal?.throwIfAborted();
      const delayMs = outcome.ok || attempt > request.maxRetries ? undefined : delayAfter(outcome, attempt);
      this.#settings.onResponse?.({
        method: request.method,
        url: request.url,
        attempt,
        status: outcome.ok ? outcome.status : outcome.error.status,
        request_id: outcome.ok ? outcome.requestId : outcome.error.request_id,
        durationMs: performance.now() - startedMs,
        error: outcome.ok ? undefined : outcome.error,
        retryInMs: delayMs,
      });
      if (outcome.ok) return outcome.value;
      // The answer to an earlier try was lost, and what it was to delete is gone: it worked.
      if (request.method === 'DELETE' && outcomeUnknown && outcome.error.status === 404)
        return undefined as Value;
      if (delayMs === undefined) throw outcome.error;
      outcomeUnknown ||= outcome.error.status === undefined || outcome.error.status >= 500;
      await sleep(delayMs, request.signal);
    }
  }

  async #attempt<Value>(
    request: Prepared,
    headers: Record<string, string>,
    read: Read<Value>,
  ): Promise<Outcome<Value>> {
    const controller = new AbortController();
    const abort = () => controller.abort(request.signal?.reason);
    request.signal?.addEventListener('abort', abort, { once: true });
    const release = () => request.signal?.removeEventListener('abort', abort);
    let isOpen = false;
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      controller.abort();
    }, request.timeoutMs);
    try {
      const response = await this.#settings.fetch(request.url, {
        method: request.method,
        headers: { ...headers, authorization: `Bearer ${this.#settings.apiKey}` },
        ...(request.body === undefined ? {} : { body: request.body }),
        // A redirect would carry the key to an address that nobody chose.
        redirect: 'manual',
        signal: controller.signal,
      });
      const requestId = response.headers.get('x-request-id') ?? undefined;
      if (!response.ok) return await refused(response, this.origin);
      const value = await read(response, release);
      isOpen = request.staysOpen;
      return { ok: true, value, status: response.status, requestId };
    } catch (cause) {
      if (cause instanceof PaymentsError) return { ok: false, error: cause, retryAfterMs: undefined };
      return { ok: false, error: connectionError(request, cause, timedOut), retryAfterMs: undefined };
    } finally {
      clearTimeout(timer);
      // An answer that is still arriving ends with the caller's signal, too.
      if (!isOpen) release();
    }
  }
}

function delayAfter(outcome: Outcome<unknown> & { ok: false }, attempt: number): number | undefined {
  if (!outcome.error.retryable) return undefined;
  return delayBeforeRetry(attempt - 1, outcome.retryAfterMs, Math.random);
}

function connectionError(request: Prepared, cause: unknown, timedOut: boolean): ConnectionFailedError {
  const { origin } = new URL(request.url);
  if (timedOut) {
    return new ConnectionFailedError(`${origin} gave no whole answer within ${request.timeoutMs} ms.`, {
      code: 'timeout',
      retryable: true,
      cause,
    });
  }
  const reason = reasonOf(cause);
  return new ConnectionFailedError(`Could not get an answer from ${origin}: ${reason}.`, {
    code: 'connection_failed',
    retryable: !CERTIFICATE_PROBLEM.test(reason),
    cause,
  });
}

/** A certificate that is refused now is refused in a second, too. */
const CERTIFICATE_PROBLEM = /^(ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;

function reasonOf(cause: unknown): string {
  let reason = 'unknown';
  for (let error = cause, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth += 1) {
    const code = (error as NodeJS.ErrnoException).code;
    if (typeof code === 'string' && code !== '') return code;
    reason = error.message;
  }
  return reason;
}

function readKey(key: string | undefined): string {
  if (key === undefined) return randomUUID();
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)) {
    throw new TypeError('idempotencyKey must have 1 to 255 printable ASCII characters');
  }
  return key;
}

function lowerCased(headers: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers ?? {})
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name.toLowerCase(), value]),
  );
}

/** A header that cannot be sent is a mistake in the call, and no lost connection to try again. */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (HEADER_NAME.test(name) && HEADER_VALUE.test(value)) continue;
    throw new TypeError(
      `The header ${JSON.stringify(name)} cannot be sent: it has characters that no header has`,
    );
  }
}

function queryString(query: object | undefined): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}) as [string, QueryValue][]) {
    if (value === undefined || value === null) continue;
    if (value instanceof Date) parameters.append(name, value.toISOString());
    else if (typeof value === 'object') {
      for (const [key, text] of Object.entries(value)) parameters.append(`${name}[${key}]`, text);
    } else parameters.append(name, String(value));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** An id as a part of a path; one that would lead to another path is refused. */
export function segment(id: string): string {
  if (typeof id !== 'string' || !/[^.\s]/.test(id)) throw new TypeError('An id is a text that is not empty.');
  return encodeURIComponent(id);
}

export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
