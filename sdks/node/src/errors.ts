import type { ErrorCode } from './types.ts';

/** Codes of this package's own, where the API said nothing. */
type OwnCode =
  | 'connection_failed'
  | 'timeout'
  | 'invalid_response'
  | 'signature_invalid'
  | 'wait_timeout'
  | 'unexpected_status';

/** Known ones, and whatever a later version of the API may add. */
export type PaymentsErrorCode = ErrorCode | OwnCode | (string & {});

/** One bad field: `pointer` (RFC 6901) into the body, or `parameter` of the query or the headers. */
export interface FieldError {
  pointer?: string;
  parameter?: string;
  code: string;
  detail: string;
}

export interface ErrorFields {
  /** The HTTP status; absent where there was no answer. */
  status?: number | undefined;
  code: PaymentsErrorCode;
  request_id?: string | undefined;
  errors?: readonly FieldError[] | undefined;
  retryable?: boolean | undefined;
  retry_after?: number | undefined;
  /** The whole problem document, with whatever extra members it has. */
  problem?: Readonly<Record<string, unknown>> | undefined;
  cause?: unknown;
}

/** Everything that this package throws, apart from mistakes in calling it, which are a TypeError. */
export class PaymentsError extends Error {
  override readonly name: string = 'PaymentsError';
  readonly status: number | undefined;
  /** One of the API's codes, or one of this package's own: `connection_failed`, `timeout`, `invalid_response` … */
  readonly code: PaymentsErrorCode;
  /** Names this request in the server's log. */
  readonly request_id: string | undefined;
  readonly errors: readonly FieldError[];
  /** Whether the same request, sent again later, may succeed. */
  readonly retryable: boolean;
  /** How many seconds the server asked to wait before that; absent where it did not say. */
  readonly retry_after: number | undefined;
  readonly problem: Readonly<Record<string, unknown>>;

  constructor(message: string, fields: ErrorFields) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.status = fields.status;
    this.code = fields.code;
    this.request_id = fields.request_id;
    this.errors = fields.errors ?? [];
    this.retryable = fields.retryable ?? false;
    this.retry_after = fields.retry_after;
    this.problem = fields.problem ?? {};
  }
}

/** 401: no key, or one that is unknown, expired or revoked. */
export class AuthenticationError extends PaymentsError {
  override readonly name = 'AuthenticationError';
}
/** 403: the key lacks the scope, or is of the other mode. */
export class PermissionDeniedError extends PaymentsError {
  override readonly name = 'PermissionDeniedError';
}
export class NotFoundError extends PaymentsError {
  override readonly name = 'NotFoundError';
}
/** 409: the object is not in a state that allows this, or the same key is being worked on. */
export class ConflictError extends PaymentsError {
  override readonly name = 'ConflictError';
}
/** 400, 422 and every other refusal of what was sent; `errors` names each bad field. */
export class InvalidRequestError extends PaymentsError {
  override readonly name = 'InvalidRequestError';
}
export class RateLimitError extends PaymentsError {
  override readonly name = 'RateLimitError';
}
/** 5xx. */
export class ServerError extends PaymentsError {
  override readonly name = 'ServerError';
}
/** There was no answer, only a part of one, or none that this API gives. */
export class ConnectionFailedError extends PaymentsError {
  override readonly name = 'ConnectionFailedError';
}

export type SignatureProblem =
  | 'missing_header'
  | 'bad_timestamp'
  | 'too_old'
  | 'too_new'
  | 'no_match'
  | 'bad_secret'
  | 'bad_body';

/** A webhook that must not be believed. */
export class SignatureInvalidError extends PaymentsError {
  override readonly name = 'SignatureInvalidError';
  readonly reason: SignatureProblem;

  constructor(reason: SignatureProblem, message: string) {
    super(message, { code: 'signature_invalid' });
    this.reason = reason;
  }
}

const classesByStatus: Readonly<Record<number, typeof PaymentsError>> = {
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
};

/** The class for a status that is not a success. */
export function errorClassOf(status: number): typeof PaymentsError {
  const exact = classesByStatus[status];
  if (exact !== undefined) return exact;
  if (status >= 500) return ServerError;
  return status >= 400 ? InvalidRequestError : ConnectionFailedError;
}
