import { AppError, baseErrors, type FieldError } from '@libs/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';

export const PROBLEM_TYPE = 'application/problem+json';

export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  request_id: string;
  errors?: FieldError[];
  [extension: string]: unknown;
};

export type ProblemOptions = { requestId: string; typeBase: string };

/** Where the codes are explained, and how an outage of what the service stands on is told from a bug. */
export type ProblemEdge = { typeBase: string; isOutage?: ((error: unknown) => boolean) | undefined };

const OUTAGE_RETRY_SECONDS = 1;

/** RFC 9457. Extensions come first so that they can never overwrite a standard member. */
export function toProblem(error: AppError, options: ProblemOptions): Problem {
  return {
    ...error.extra,
    type: `${options.typeBase}#${error.code}`,
    title: error.title,
    status: error.status,
    detail: error.detail,
    code: error.code,
    request_id: options.requestId,
    ...(error.details === undefined ? {} : { errors: error.details }),
  };
}

type FrameworkError = Error & { code?: unknown; statusCode?: unknown };

/**
 * Postgres refused a text with NUL or half a surrogate pair, which came by a way that nobody checked. Only callers send
 * such, so it is their mistake; the log tells us of the way.
 */
function isUnstorable(error: unknown): boolean {
  const { code } = (error ?? {}) as FrameworkError;
  return code === '22021' || code === '22P05';
}

/** What Fastify, Node and plugins throw, in our own words. Unknown failures are 500 and keep their cause for the log. */
function toAppError(error: unknown, isOutage: ProblemEdge['isOutage']): AppError {
  if (error instanceof AppError) return error;
  if (isUnstorable(error)) {
    return baseErrors.bad_request({ detail: 'A text has NUL or broken Unicode characters.', cause: error });
  }
  const { code, statusCode } = (error ?? {}) as FrameworkError;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return baseErrors.body_too_large();
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return baseErrors.unsupported_media_type();
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return baseErrors.bad_request({ detail: 'The body is not as long as Content-Length says.' });
    case 'FST_ERR_BAD_URL':
      return baseErrors.bad_request({ detail: 'The address contains a malformed percent-encoding.' });
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return baseErrors.not_found();
    case 'ECONNRESET':
    case 'ECONNABORTED':
      if (statusCode === 400) return baseErrors.bad_request({ detail: 'The request was cut off.' });
      break;
  }
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return byStatus(statusCode, error);
  if (isOutage?.(error)) {
    return baseErrors.not_ready({ cause: error, retryAfterSeconds: OUTAGE_RETRY_SECONDS });
  }
  return baseErrors.internal({ cause: error });
}

function byStatus(status: number, cause: unknown): AppError {
  switch (status) {
    case 404:
      return baseErrors.not_found({ cause });
    case 408:
      return baseErrors.request_timeout({ cause });
    case 413:
      return baseErrors.body_too_large({ cause });
    case 414:
      return baseErrors.uri_too_long({ cause });
    case 415:
      return baseErrors.unsupported_media_type({ cause });
    case 429:
      return baseErrors.rate_limited({ cause, retryAfterSeconds: 1 });
    default:
      return baseErrors.bad_request({ cause });
  }
}

/** How much of a refused body is still read, so that a client in the middle of sending gets to see the answer. */
const DISCARD_BYTES_MAX = 4 * 1024 * 1024;

/** RFC 9110 wants a challenge with every 401. Refusals without one of their own are those of logins, which ask for no header. */
const LOGIN_CHALLENGE = 'Password';

export function sendProblem(
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  { typeBase, isOutage }: ProblemEdge,
): void {
  const appError = toAppError(error, isOutage);
  logFailure(request, appError);
  if (reply.raw.headersSent) {
    // A stream that broke half-way cannot become a problem any more: the cut connection tells the client.
    reply.raw.destroy();
    return;
  }
  // Fastify closes the connection after every parser error. The body was read, or is discarded below, so it may live on.
  if (reply.getHeader('connection') === 'close' && reply.raw.shouldKeepAlive)
    reply.header('connection', 'keep-alive');
  if (appError.kind === 'too_large') discardBody(request);
  if (appError.headers !== undefined) reply.headers(appError.headers);
  if (appError.kind === 'unauthenticated' && !reply.hasHeader('www-authenticate'))
    reply.header('www-authenticate', LOGIN_CHALLENGE);
  // Bytes, not a string: Fastify would add a charset to the type, which problem+json does not have.
  const body = Buffer.from(JSON.stringify(toProblem(appError, { requestId: request.id, typeBase })));
  reply.code(appError.status).header('content-type', PROBLEM_TYPE).send(body);
}

/** What is our fault is logged: a bug with its stack, an outage (a database, a rail) where its cause is known. */
function logFailure(request: FastifyRequest, error: AppError): void {
  if (error.kind === 'internal') request.log.error({ err: error.cause ?? error }, 'request failed');
  else if (error.cause !== undefined && (error.status >= 500 || isUnstorable(error.cause))) {
    request.log.warn({ err: error.cause, code: error.code }, 'request refused');
  }
}

function discardBody(request: FastifyRequest): void {
  let discarded = 0;
  request.raw.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > DISCARD_BYTES_MAX) request.raw.destroy();
  });
  request.raw.resume();
}
