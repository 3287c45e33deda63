/** The one place where the kind of a failure becomes a status; domain code names kinds and never numbers. */
export const statusByKind = {
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method: 405,
  timeout: 408,
  conflict: 409,
  gone: 410,
  too_large: 413,
  uri_too_long: 414,
  unsupported_type: 415,
  invalid: 422,
  refused: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal: 500,
  bad_gateway: 502,
  unavailable: 503,
} as const;

export type ErrorKind = keyof typeof statusByKind;

/** One bad field: `pointer` (RFC 6901) in the body, `parameter` in the query or a header. */
export type FieldError = { pointer?: string; parameter?: string; code: string; detail: string };

export type AppErrorOptions = {
  title?: string;
  errors?: FieldError[];
  headers?: Record<string, string>;
  /** Sets the `Retry-After` header, at least 1. */
  retryAfterSeconds?: number;
  retryable?: boolean;
  /** Extension members of the problem (RFC 9457 §3.2); the standard members cannot be overwritten. */
  extra?: Record<string, unknown>;
  cause?: unknown;
};

const retryableKinds: ReadonlySet<ErrorKind> = new Set([
  'timeout',
  'rate_limited',
  'bad_gateway',
  'unavailable',
]);

/** Whether the same request, sent again later, may succeed. */
export function isRetryable({ kind, retryable }: Pick<ErrorDefinition, 'kind' | 'retryable'>): boolean {
  return retryable ?? retryableKinds.has(kind);
}

/** A failure that the caller is told about, as problem+json. Everything else that is thrown becomes 500 `internal`. */
export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly details: FieldError[] | undefined;
  readonly headers: Record<string, string> | undefined;
  readonly retryable: boolean;
  readonly extra: Record<string, unknown> | undefined;

  constructor(kind: ErrorKind, code: string, detail: string, options: AppErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.kind = kind;
    this.code = code;
    this.title = options.title ?? titleOf(code);
    this.detail = detail;
    this.details = options.errors;
    this.headers = withRetryAfter(options.headers, options.retryAfterSeconds);
    this.retryable = options.retryable ?? retryableKinds.has(kind);
    this.extra = options.extra;
  }

  get status(): number {
    return statusByKind[this.kind];
  }
}

function titleOf(code: string): string {
  const words = code.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function withRetryAfter(
  headers: Record<string, string> | undefined,
  seconds: number | undefined,
): Record<string, string> | undefined {
  if (seconds === undefined) return headers;
  return { ...headers, 'retry-after': String(Math.max(1, Math.ceil(seconds))) };
}

export type ErrorDefinition = {
  kind: ErrorKind;
  title: string;
  /** What the caller reads when the thrower says nothing more precise. */
  detail?: string;
  retryable?: boolean;
  /** A longer explanation for the page of errors: when it happens and what to do. */
  help?: string;
};

export type ErrorDefinitions = Readonly<Record<string, ErrorDefinition>>;
export type ThrowOptions = AppErrorOptions & { detail?: string };

/** What documentation and checks read of a registry. */
export type ErrorCatalogue<Definitions extends ErrorDefinitions = ErrorDefinitions> = {
  /** Every code this service can answer with, sorted; docs and SDKs are checked against it. */
  readonly codes: readonly (keyof Definitions & string)[];
  readonly definitions: Definitions;
};

export type ErrorRegistry<Definitions extends ErrorDefinitions> = ErrorCatalogue<Definitions> & {
  readonly [Code in keyof Definitions & string]: (options?: ThrowOptions) => AppError;
};

/** Codes of the HTTP edge itself; every registry contains them. */
const baseErrorDefinitions = {
  invalid_json: {
    kind: 'malformed',
    title: 'Invalid JSON',
    detail: 'The body is not valid JSON.',
    help: 'Send one JSON value in UTF-8, without repeated keys.',
  },
  invalid_request: {
    kind: 'invalid',
    title: 'Invalid request',
    detail: 'The body does not fit this endpoint; see errors.',
    help: 'Every bad field is listed in `errors` with its JSON pointer.',
  },
  invalid_query: {
    kind: 'malformed',
    title: 'Invalid query',
    detail: 'The query does not fit this endpoint; see errors.',
    help: 'Every bad parameter is listed in `errors` by its name.',
  },
  invalid_header: {
    kind: 'malformed',
    title: 'Invalid header',
    detail: 'A header of the request is missing or has a value that cannot be used.',
    help: '`errors` names the header.',
  },
  bad_request: {
    kind: 'malformed',
    title: 'Bad request',
    detail: 'The request is not valid HTTP for this server.',
    help: 'A proxy or a hand-written client usually broke it; `detail` says what.',
  },
  not_found: {
    kind: 'not_found',
    title: 'Not found',
    detail: 'There is nothing at this address.',
    help: 'The id is wrong, or belongs to another account or to the other mode; or the path has a typing error.',
  },
  method_not_allowed: {
    kind: 'method',
    title: 'Method not allowed',
    detail: 'This address does not take this method; the Allow header lists the ones it takes.',
    help: 'Compare the method and the path with the reference.',
  },
  request_timeout: {
    kind: 'timeout',
    title: 'Request timeout',
    detail: 'The request did not arrive in time.',
    help: 'The connection is slow, or was interrupted while the request was being sent.',
  },
  body_too_large: {
    kind: 'too_large',
    title: 'Body too large',
    detail: 'The body is larger than this endpoint takes.',
    help: 'Send less at once; the page of limits has the figure.',
  },
  uri_too_long: {
    kind: 'uri_too_long',
    title: 'Address too long',
    detail: 'A part of the address is too long.',
    help: 'Ids have at most 255 characters.',
  },
  unsupported_media_type: {
    kind: 'unsupported_type',
    title: 'Unsupported media type',
    detail: 'Send the body as application/json.',
    help: 'Set the header `Content-Type: application/json`.',
  },
  headers_too_large: {
    kind: 'headers_too_large',
    title: 'Headers too large',
    detail: 'The headers are too large.',
    help: 'Large cookies or tokens are the usual cause.',
  },
  rate_limited: {
    kind: 'rate_limited',
    title: 'Rate limited',
    detail: 'Too many requests; wait as long as Retry-After says.',
    help: 'Nothing was done. Spread requests over time, or ask for a higher limit.',
  },
  csrf: {
    kind: 'forbidden',
    title: 'Cross-site request refused',
    detail: 'A call with the session cookie must come from this site and carry JSON.',
    help: 'Call it from a page of this site, or use a key instead of the cookie.',
  },
  host_not_accepted: {
    kind: 'forbidden',
    title: 'Host not accepted',
    detail: 'This server does not answer under this Host.',
    help: 'Use the public address of the service. A proxy in front of it has to pass the Host of the request on.',
  },
  metrics_token_required: {
    kind: 'unauthenticated',
    title: 'Metrics token required',
    detail: 'Send the token for metrics as a Bearer token.',
    help: 'It is for whoever operates the service.',
  },
  internal: {
    kind: 'internal',
    title: 'Internal error',
    detail: 'Something went wrong here; it is logged under the request id.',
    help: 'It is safe to send it again with the same `Idempotency-Key`. Tell us the `request_id` if it stays.',
  },
  shutting_down: {
    kind: 'unavailable',
    title: 'Shutting down',
    detail: 'This server is stopping; send the request again.',
    help: 'Another process takes over within seconds.',
  },
  not_ready: {
    kind: 'unavailable',
    title: 'Not ready',
    detail: 'This server cannot take requests right now.',
    help: 'It starts, cannot reach its database, or lacks an encryption key that is being exchanged. Wait a moment; it is safe to send it again with the same `Idempotency-Key`.',
  },
} as const satisfies ErrorDefinitions;

export type BaseErrorDefinitions = typeof baseErrorDefinitions;

/**
 * The registry of a service: the only list of its codes. `errors.payment_not_found({ detail })` makes the error
 * to throw. The codes of the HTTP edge are part of every registry; a service may word them anew.
 */
export function defineErrors<const Own extends ErrorDefinitions>(
  own: Own,
): ErrorRegistry<Omit<BaseErrorDefinitions, keyof Own> & Own> {
  const definitions: Record<string, ErrorDefinition> = { ...baseErrorDefinitions, ...own };
  const registry: Record<string, unknown> = {};
  for (const [code, definition] of Object.entries(definitions)) {
    if (!/^[a-z][a-z0-9_]*$/.test(code) || code === 'codes' || code === 'definitions') {
      throw new TypeError(`"${code}" cannot be an error code`);
    }
    registry[code] = (options: ThrowOptions = {}) => makeError(code, definition, options);
  }
  registry.codes = Object.freeze(Object.keys(definitions).sort());
  registry.definitions = Object.freeze(definitions);
  return Object.freeze(registry) as ErrorRegistry<Omit<BaseErrorDefinitions, keyof Own> & Own>;
}

function makeError(code: string, definition: ErrorDefinition, options: ThrowOptions): AppError {
  const detail = options.detail ?? definition.detail ?? definition.title;
  return new AppError(definition.kind, code, detail, {
    title: definition.title,
    ...(definition.retryable === undefined ? {} : { retryable: definition.retryable }),
    ...options,
  });
}

export const baseErrors = defineErrors({});
export type BaseErrors = typeof baseErrors;
