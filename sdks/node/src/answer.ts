import { ConnectionFailedError, errorClassOf, type FieldError, type PaymentsError } from './errors.ts';
import { isRetryable, parseRetryAfter } from './retry.ts';

const RESPONSE_BYTES_MAX = 64 * 1024 * 1024;

/** The end of one try: an answer that can be used, or the error it amounts to. */
export type Outcome<Value> =
  | { ok: true; value: Value; status: number; requestId: string | undefined }
  | { ok: false; error: PaymentsError; retryAfterMs: number | undefined };

/** The object of an answer; undefined where something was deleted, since everything else is answered with one. */
export async function readObject(response: Response, method: string, origin: string): Promise<unknown> {
  const text = await readText(response);
  const unusable = (what: string, retryable: boolean) =>
    new ConnectionFailedError(`${origin} answered ${response.status} with ${what}: is the address right?`, {
      code: 'invalid_response',
      status: response.status,
      retryable,
    });
  if (text === '') {
    if (method === 'DELETE') return undefined;
    // It may have been lost on its way, and what it was to tell with it: the same key asks for it again.
    throw unusable('an empty body', true);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const type = response.headers.get('content-type') ?? 'no content type';
    // What calls itself JSON and is none was cut on its way; anything else comes from another server.
    throw unusable(`a body that is not JSON (${type})`, /json/i.test(type));
  }
  if (isObject(value)) return value;
  throw unusable('JSON that is no object', false);
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

/** The error that a refusal amounts to. */
export async function refused(response: Response, origin: string): Promise<Outcome<never>> {
  const problem = await readProblem(response);
  const { status } = response;
  const code = textOf(problem.code) ?? `http_${status}`;
  const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'), Date.now());
  const errors = fieldErrorsOf(problem);
  const ErrorClass = errorClassOf(status);
  const error = new ErrorClass(messageOf(status, origin, problem, errors), {
    status,
    code,
    request_id: response.headers.get('x-request-id') ?? textOf(problem.request_id),
    errors,
    retryable: isRetryable({ status, code, retryAfterMs }),
    retry_after: retryAfterMs === undefined ? undefined : retryAfterMs / 1_000,
    problem,
  });
  return { ok: false, error, retryAfterMs };
}

/** Whatever stands between us and the server answers in its own way: anything but a problem document says nothing. */
async function readProblem(response: Response): Promise<Record<string, unknown>> {
  const text = await readText(response);
  if (!/json/i.test(response.headers.get('content-type') ?? '')) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldErrorsOf(problem: Record<string, unknown>): FieldError[] {
  if (!Array.isArray(problem.errors)) return [];
  return problem.errors.filter((one) => typeof one === 'object' && one !== null);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function messageOf(
  status: number,
  origin: string,
  problem: Record<string, unknown>,
  fields: readonly FieldError[],
): string {
  if (status >= 300 && status < 400) {
    return `${origin} answered ${status}, a redirect, which is not followed: is the address right?`;
  }
  if (typeof problem.detail !== 'string') return `${origin} answered ${status}.`;
  const named = fields.map((field) => `${field.pointer ?? field.parameter ?? ''}: ${field.detail}`);
  return [problem.detail, ...named].join(' ');
}
