import { randomUUID } from 'node:crypto';
import { type RequestInfo, readNumber, type Settings } from './config.ts';
import { ConnectionFailedError, errorClassOf, type FieldError, PaymentsError } from './errors.ts';
import { delayBeforeRetry, isRetryable, parseRetryAfter } from './retry.ts';
import { API_VERSION, VERSION } from './version.ts';

const RESPONSE_BYTES_MAX = 64 * 1024 * 1024;
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,257}$/;
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
}

/** The end of one try: an answer that can be used, or the error it amounts to. */
type Outcome<Value> =
  | { ok: true; value: Value; status: number; requestId: string | undefined }
  | { ok: false; error: PaymentsError; retryAfterMs: number | undefined };

/** Sends requests: the same bytes and the same key at every try, until one gets an answer that stands. */
export class HttpClient {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  get origin(): string {
    return new URL(this.#settings.baseUrl).origin;
  }

  /** The JSON of the answer; undefined for 204. */
  async send<Value>(request: ApiRequest): Promise<Value> {
    return (await this.#repeat(this.#prepare(request), (response) =>
      readJson(response, this.origin),
    )) as Value;
  }

  /** The answer while it still arrives. Failures before its first byte are retried, later ones are the caller's. */
  async open(request: ApiRequest, accept: string): Promise<Response> {
    const prepared = this.#prepare(request);
    prepared.headers.accept = accept;
    return this.#repeat(prepared, async (response) => response);
  }

  #prepare({ method, path, query, body, options = {} }: ApiRequest): Prepared {
    const settings = this.#settings;
    const headers: Record<string, string> = {
      accept: 'application/json',
      'api-version': API_VERSION,
      'user-agent': `payments-api-node/${VERSION} (node ${process.version}; ${process.platform})`,
      ...lowerCased(settings.headers),
      ...lowerCased(options.headers),
    };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (method === 'POST') headers['idempotency-key'] = readKey(options.idempotencyKey);
    return {
      method,
      url: `${settings.baseUrl}${path}${queryString(query)}`,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
      timeoutMs: readNumber('timeoutMs', options.timeoutMs ?? settings.timeoutMs, 1, TIMEOUT_MS_MAX),
      maxRetries: readNumber('maxRetries', options.maxRetries ?? settings.maxRetries, 0, RETRIES_MAX),
      signal: options.signal,
    };
  }

  async #repeat<Value>(request: Prepared, read: (response: Response) => Promise<Value>): Promise<Value> {
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
    read: (response: Response) => Promise<Value>,
  ): Promise<Outcome<Value>> {
    const controller = new AbortController();
    const abort = () => controller.abort(request.signal?.reason);
    request.signal?.addEventListener('abort', abort, { once: true });
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
      return { ok: true, value: await read(response), status: response.status, requestId };
    } catch (cause) {
      request.signal?.removeEventListener('abort', abort);
      if (cause instanceof PaymentsError) return { ok: false, error: cause, retryAfterMs: undefined };
      return { ok: false, error: connectionError(request, cause, timedOut), retryAfterMs: undefined };
    } finally {
      // The listener stays: an answer that is still arriving ends with the caller's signal, too.
      clearTimeout(timer);
    }
  }
}

function delayAfter(outcome: Outcome<unknown> & { ok: false }, attempt: number): number | undefined {
  if (!outcome.error.retryable) return undefined;
  return delayBeforeRetry(attempt - 1, outcome.retryAfterMs, Math.random);
}

async function readJson(response: Response, origin: string): Promise<unknown> {
  const text = await readText(response);
  if (response.status === 204 || text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    const type = response.headers.get('content-type') ?? 'no content type';
    throw new ConnectionFailedError(
      `${origin} answered ${response.status} with a body that is not JSON (${type}): is the address right?`,
      // What calls itself JSON and is none was cut on its way; anything else comes from another server.
      { code: 'invalid_response', status: response.status, retryable: /json/.test(type) },
    );
  }
}

/** Bounded: a server that never stops sending must not fill the memory. */
async function readText(response: Response): Promise<string> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > RESPONSE_BYTES_MAX) {
      throw new ConnectionFailedError('The answer is larger than this client takes.', {
        code: 'invalid_response',
        status: response.status,
      });
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

async function refused(response: Response, origin: string): Promise<Outcome<never>> {
  const problem = await readProblem(response);
  const { status } = response;
  const code = textOf(problem.code) ?? `http_${status}`;
  const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'), Date.now());
  const ErrorClass = errorClassOf(status);
  const error = new ErrorClass(messageOf(status, origin, problem), {
    status,
    code,
    request_id: response.headers.get('x-request-id') ?? textOf(problem.request_id),
    errors: Array.isArray(problem.errors) ? (problem.errors as FieldError[]) : [],
    retryable: isRetryable({ status, code, retryAfterMs }),
    problem,
  });
  return { ok: false, error, retryAfterMs };
}

/** Whatever stands between us and the server answers in its own way: anything but a problem document says nothing. */
async function readProblem(response: Response): Promise<Record<string, unknown>> {
  const text = await readText(response);
  if (!/json/.test(response.headers.get('content-type') ?? '')) return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function messageOf(status: number, origin: string, problem: Record<string, unknown>): string {
  if (status >= 300 && status < 400) {
    return `${origin} answered ${status}, a redirect, which is not followed: is the address right?`;
  }
  if (typeof problem.detail !== 'string') return `${origin} answered ${status}.`;
  const fields = Array.isArray(problem.errors) ? (problem.errors as FieldError[]) : [];
  const named = fields.map((field) => `${field.pointer ?? field.parameter ?? ''}: ${field.detail}`);
  return [problem.detail, ...named].join(' ');
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
    Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
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
