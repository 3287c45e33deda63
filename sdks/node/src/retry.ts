// When to send a request again, and how long to wait before: no I/O, so that every case can be tested.

/** The first wait is up to this long, the second up to twice that, and so on. */
const BACKOFF_BASE_MS = 500;
const BACKOFF_MAX_MS = 8_000;
/** A server that asks for more patience than this gets none: the caller is told instead. */
const RETRY_AFTER_MAX_MS = 60_000;

/** 5xx that the same request meets again until somebody changes the server's settings. */
const lastingCodes: ReadonlySet<string> = new Set(['rail_not_configured']);

export interface AnswerToJudge {
  status: number;
  code: string;
  retryAfterMs: number | undefined;
}

/** Whether the same request, with the same idempotency key, may succeed later. */
export function isRetryable({ status, code, retryAfterMs }: AnswerToJudge): boolean {
  if (lastingCodes.has(code)) return false;
  if (status === 408 || status === 429 || status >= 500) return true;
  // Other conflicts are about the object's state and stay; this one is about the first try, which is still under way.
  return status === 409 && (code === 'idempotency_key_in_use' || retryAfterMs !== undefined);
}

/** `Retry-After`, in seconds or as a date; undefined where it says nothing usable. */
export function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  // Date.parse by itself finds a date in nearly any text, and takes one without a zone for local time.
  if (!/^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text)) return undefined;
  const at = Date.parse(/(GMT|UTC|[+-]\d{4})$/.test(text) ? text : `${text} GMT`);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/** Full jitter: any time up to the bound, so that clients that failed together do not come back together. */
export function backoffMs(failures: number, random: () => number): number {
  return random() * Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** Math.min(failures, 16));
}

/** How long to wait before the next try; undefined where waiting would take too long. */
export function delayBeforeRetry(
  failures: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number | undefined {
  if (retryAfterMs === undefined) return backoffMs(failures, random);
  if (retryAfterMs > RETRY_AFTER_MAX_MS) return undefined;
  return retryAfterMs + random() * BACKOFF_BASE_MS;
}

/** What those who look again and again wait at least; bounded, since they end by a time of their own. */
export function askedMs(retryAfterSeconds: number | undefined): number {
  return Math.min((retryAfterSeconds ?? 0) * 1_000, RETRY_AFTER_MAX_MS);
}
