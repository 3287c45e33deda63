import { ConnectionFailedError } from './errors.ts';
import type { ApiRequest, HttpClient } from './request.ts';

/** One page, as it comes over the wire. */
export interface Page<Item> {
  object: 'list';
  data: Item[];
  /** Asks for the page after this one; null on the last. */
  next_cursor: string | null;
}

/** Every list takes these. */
export interface ListParams {
  /** Items per page, 1 to 100; 20 where it is absent. */
  limit?: number | undefined;
  /** `next_cursor` of the page before. */
  cursor?: string | undefined;
}

/**
 * A list, newest first. Nothing is asked for until it is read: `for await` reads on over all pages, `.page()` or `await`
 * gives the first one alone.
 */
export class List<Item> implements AsyncIterable<Item>, PromiseLike<Page<Item>> {
  readonly #http: HttpClient;
  readonly #request: ApiRequest;

  constructor(http: HttpClient, request: ApiRequest) {
    this.#http = http;
    this.#request = request;
  }

  /** The first page, or the one that `cursor` asks for. */
  async page(cursor?: string): Promise<Page<Item>> {
    const query = cursor === undefined ? this.#request.query : { ...this.#request.query, cursor };
    const page = await this.#http.send<Page<Item>>({ ...this.#request, query });
    if (Array.isArray(page.data)) return page;
    const message = `${this.#http.origin} answered with something that is no list: is the address right?`;
    throw new ConnectionFailedError(message, { code: 'invalid_response' });
  }

  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    let cursor: string | undefined;
    do {
      const page: Page<Item> = await this.page(cursor);
      yield page;
      // A server that answers the same cursor again would keep us here for ever.
      if (page.next_cursor === cursor) return;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* page.data;
  }

  /** At most so many items, as an array. */
  async toArray(options: { limit: number }): Promise<Item[]> {
    const items: Item[] = [];
    if (options.limit <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= options.limit) break;
    }
    return items;
  }

  // biome-ignore lint/suspicious/noThenProperty: `await client.payments.list()` gives the first page.
  then<Fulfilled = Page<Item>, Rejected = never>(
    onFulfilled?: ((page: Page<Item>) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.page().then(onFulfilled, onRejected);
  }
}
