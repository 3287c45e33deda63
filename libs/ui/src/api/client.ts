import { connection, GATEWAY_MIN } from './connection.ts';
import { type ApiError, ConnectionLost, isApiError, readProblem, UNKNOWN_CODE } from './problem.ts';

export type QueryValue = string | number | boolean | null | undefined;
export type Query = Record<string, QueryValue>;

export interface CallOptions {
  query?: Query;
  /** The same for every try of one intention, so that nothing happens twice. */
  idempotencyKey?: string;
  signal?: AbortSignal;
  /** For what takes longer than a page usually waits. */
  timeoutMs?: number;
}

export interface Client {
  get<Answer>(path: string, options?: CallOptions): Promise<Answer>;
  post<Answer>(path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  put<Answer>(path: string, body: unknown, options?: CallOptions): Promise<Answer>;
  patch<Answer>(path: string, body: unknown, options?: CallOptions): Promise<Answer>;
  delete(path: string, options?: CallOptions & { body?: unknown }): Promise<void>;
  /** For answers that are no JSON: streams and files. */
  open(path: string, options?: CallOptions & { headers?: Record<string, string> }): Promise<Response>;
}

export interface ClientOptions {
  /** Sent with every call, as they are at that moment. */
  headers: () => Record<string, string>;
  /** The session is over; the page leads to the log-in and back to where one was. */
  onUnauthenticated: () => void;
  /** Told of every refusal, before whoever called hears of it. */
  onRefused?: (problem: ApiError) => void;
}

const TIMEOUT_MS = 30_000;
/** What the products call a session that is none; other 401s, such as a wrong password, are told at their form. */
const OVER: ReadonlySet<string> = new Set(['unauthorized', 'unauthenticated']);

/** The one way in which pages speak with the server: the same errors, the same headers, the same time-out everywhere. */
export function createClient({ headers, onUnauthenticated, onRefused }: ClientOptions): Client {
  async function call(method: string, path: string, body: unknown, options: CallOptions): Promise<Response> {
    const signal = AbortSignal.any([
      AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS),
      ...(options.signal === undefined ? [] : [options.signal]),
    ]);
    const hasBody = method !== 'GET' && (method !== 'DELETE' || body !== undefined);
    const response = await send(path, options, {
      method,
      signal,
      headers: {
        ...headers(),
        // An empty object where nothing is said: a state change of a cookie is JSON or it is refused.
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
        ...(options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey }),
      },
      ...(hasBody ? { body: JSON.stringify(body ?? {}) } : {}),
    });
    return response;
  }

  async function send(path: string, options: CallOptions, init: RequestInit): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(addressOf(path, options.query), { ...init, credentials: 'same-origin' });
    } catch (error) {
      throw lost(error, options);
    }
    if (response.ok) {
      connection.reportAnswer();
      return response;
    }
    const problem = await readProblem(response);
    if (isOfGateway(problem)) throw lost(problem, options);
    connection.reportAnswer();
    if (problem.status === 401 && OVER.has(problem.code)) onUnauthenticated();
    onRefused?.(problem);
    throw problem;
  }

  async function callForJson<Answer>(
    method: string,
    path: string,
    body: unknown,
    options: CallOptions,
  ): Promise<Answer> {
    const response = await call(method, path, body, options);
    if (response.status === 204) return undefined as Answer;
    try {
      return (await response.json()) as Answer;
    } catch (error) {
      throw lost(error, options);
    }
  }

  return {
    get: (path, options = {}) => callForJson('GET', path, undefined, options),
    post: (path, body, options = {}) => callForJson('POST', path, body, options),
    put: (path, body, options = {}) => callForJson('PUT', path, body, options),
    patch: (path, body, options = {}) => callForJson('PATCH', path, body, options),
    delete: async (path, { body, ...options } = {}) => {
      await call('DELETE', path, body, options).catch(unlessGone);
    },
    open: (path, { headers: more, ...options } = {}) =>
      send(path, options, {
        headers: { ...headers(), ...more },
        ...(options.signal ? { signal: options.signal } : {}),
      }),
  };
}

/** Gone is what was asked for: an answer was lost before, or another window was quicker. */
function unlessGone(error: unknown): void {
  if (!isApiError(error, 'not_found')) throw error;
}

/** What became of the call is as open as where nothing came: the server's own refusals have their code. */
function isOfGateway({ status, code }: ApiError): boolean {
  return status >= GATEWAY_MIN && code === UNKNOWN_CODE;
}

/** No answer came, or it broke off; whoever gave the call up themselves has lost nothing. */
function lost(error: unknown, { signal }: CallOptions): unknown {
  if (signal?.aborted === true) return error;
  connection.reportLost();
  return new ConnectionLost(error);
}

/** What is empty asks for what is empty; who asks for nothing gives none. */
export function addressOf(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) search.set(name, String(value));
  }
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}
