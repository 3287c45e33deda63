/** One field that the server refused: a pointer into the body, or the name of a parameter of the address. */
export interface FieldProblem {
  pointer?: string;
  parameter?: string;
  code: string;
  detail: string;
}

interface Problem {
  title: string;
  status: number;
  detail: string;
  code: string;
  request_id: string;
  errors?: FieldProblem[];
}

/** A refusal by the server, in its own words (RFC 9457). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly requestId: string;
  readonly fields: readonly FieldProblem[];
  /** The whole answer, for refusals that carry more than words. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(problem: Problem) {
    super(problem.detail);
    this.name = 'ApiError';
    this.status = problem.status;
    this.code = problem.code;
    this.title = problem.title;
    this.requestId = problem.request_id;
    this.fields = problem.errors ?? [];
    this.body = problem as unknown as Record<string, unknown>;
  }
}

/** No answer: the network is gone, or the server is being restarted. */
export class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super('no answer', { cause });
    this.name = 'ConnectionLost';
  }
}

/** The device or the browser said no, which no server heard of; in words for whoever holds it. */
export class DeviceRefused extends Error {
  constructor(words: string, cause?: unknown) {
    super(words, { cause });
    this.name = 'DeviceRefused';
  }
}

export function isApiError(error: unknown, code?: string): error is ApiError {
  return error instanceof ApiError && (code === undefined || error.code === code);
}

/** Of what no service of ours said. */
export const UNKNOWN_CODE = 'unknown';

/** Of an answer that says no; one that is no problem document (a proxy's page) gets words of its own. */
export async function readProblem(response: Response): Promise<ApiError> {
  const problem = (await response.json().catch(() => null)) as Partial<Problem> | null;
  return new ApiError({
    title: 'The server answered with an error',
    detail: `The server answered ${response.status}.`,
    code: UNKNOWN_CODE,
    request_id: response.headers.get('x-request-id') ?? '',
    ...problem,
    status: response.status,
  });
}

/** `/bank_account/routing_number` is the field `bank_account.routing_number` of a form. */
export function fieldOfPointer(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
}
