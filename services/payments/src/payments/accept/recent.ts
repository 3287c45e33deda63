import { LRUCache } from 'lru-cache';
import type { AcceptPlace } from './path.ts';

/** A request as it came, so that the next one that is the same in every byte need not be read again. */
export interface SentRequest {
  contentType: string;
  bytes: Buffer;
  /** What the bytes say. */
  body: unknown;
}

export interface RecentResponse {
  canonicalBody: string;
  status: number;
  body: string;
  sent?: SentRequest;
}

const RESPONSES_MAX = 2_000;
/** Keys are kept for 30 days; what is repeated is mostly repeated within seconds. */
const AGE_MS_MAX = 60 * 60 * 1_000;
/** Longer requests are rare, and are read each time. */
export const SENT_BYTES_MAX = 4_096;

/**
 * The responses that were asked for again. A response never changes once it is committed, so from the second repeat on
 * it comes from here: repeats come when something is slow, and must not make it slower. First responses are not kept,
 * because nearly all of them are never asked for again and would only grow old in memory.
 */
export class RecentResponses {
  readonly #responses = new LRUCache<string, RecentResponse & { atMs: number }>({ max: RESPONSES_MAX });
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  get(place: AcceptPlace): RecentResponse | undefined {
    const key = keyOf(place);
    const response = this.#responses.get(key);
    if (response === undefined || this.#now().getTime() - response.atMs <= AGE_MS_MAX) return response;
    this.#responses.delete(key);
    return undefined;
  }

  set(place: AcceptPlace, { canonicalBody, status, body }: RecentResponse, atMs: number): void {
    this.#responses.set(keyOf(place), { canonicalBody, status, body, atMs });
  }

  /** To be called only with a request that was answered by this place's response. */
  noteSent(place: AcceptPlace, sent: SentRequest): void {
    const response = this.#responses.get(keyOf(place));
    if (response !== undefined) response.sent = sent;
  }
}

function keyOf({ tenant, path, key }: AcceptPlace): string {
  return `${tenant.id} ${path} ${key}`;
}
