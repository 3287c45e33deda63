/** One call of the API, as developers look at it afterwards. */
export interface RequestLog {
  id: string;
  at: Date;
  /** What the answer had as `x-request-id`; callers may choose it, so it is not unique. */
  requestId: string;
  keyId: string | null;
  userId: string | null;
  method: string;
  path: string;
  query: string | null;
  status: number;
  durationMs: number;
  ip: string;
  apiVersion: string;
  idempotencyKey: string | null;
}

/** Bodies are JSON without what nobody may read there; null where there was none, or it was too long to be kept. */
export interface RequestLogBodies {
  requestBody: string | null;
  requestBytes: number;
  responseBody: string | null;
  responseBytes: number;
}

export type StoredRequest = RequestLog & RequestLogBodies & { tenantId: string };

/** A call as it was, before it is made ready to be kept. */
export interface SeenRequest extends Omit<RequestLog, 'id'> {
  tenantId: string;
  requestBody: unknown;
  requestBytes: number;
  /** JSON; undefined for what is no JSON, or is streamed. */
  responseBody: string | undefined;
  responseBytes: number;
}

/** Longer bodies are not kept, only how long they were. */
export const BODY_BYTES_MAX = 16 * 1024;

/** The day to whose part of the table a row belongs. */
export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

const DAY_MS = 24 * 60 * 60_000;

export function dayBefore(at: Date, days: number): string {
  return dayOf(new Date(at.getTime() - days * DAY_MS));
}
