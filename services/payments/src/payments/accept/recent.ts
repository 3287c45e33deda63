import { LRUCache } from 'lru-cache';

interface Response {
  canonicalBody: string;
  status: number;
  body: string;
}

const RESPONSES_MAX = 2_000;
/** Keys are kept for 30 days; what is repeated is mostly repeated within seconds. */
const AGE_MS_MAX = 60 * 60 * 1_000;

/**
 * The responses that were asked for again. A response never changes once it is committed, so from the second repeat on
 * it comes from here: repeats come when something is slow, and must not make it slower. First responses are not kept,
 * because nearly all of them are never asked for again and would only grow old in memory.
 */
export class RecentResponses {
  readonly #responses = new LRUCache<string, Response & { atMs: number }>({ max: RESPONSES_MAX });

  get(key: string, atMs: number): Response | undefined {
    const response = this.#responses.get(key);
    if (response === undefined || atMs - response.atMs <= AGE_MS_MAX) return response;
    this.#responses.delete(key);
    return undefined;
  }

  set(key: string, { canonicalBody, status, body }: Response, atMs: number): void {
    this.#responses.set(key, { canonicalBody, status, body, atMs });
  }
}
