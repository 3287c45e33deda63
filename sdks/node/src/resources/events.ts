import { type StreamOptions, streamEvents } from '../event-stream.ts';
import type { Event } from '../event-types.ts';
import { List, type ListParams } from '../pagination.ts';
import { type HttpClient, type RequestOptions, segment } from '../request.ts';
import type { EventType } from '../types.ts';

export interface EventFilters {
  type?: EventType | undefined;
  /** Events of one payment, payment method or webhook endpoint. */
  object_id?: string | undefined;
}

export class EventsResource {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  async get(id: string, options?: RequestOptions): Promise<Event> {
    return this.#http.send({ method: 'GET', path: `/v1/events/${segment(id)}`, options });
  }

  list(params?: EventFilters & ListParams, options?: RequestOptions): List<Event> {
    return new List(this.#http, { method: 'GET', path: '/v1/events', query: params, options });
  }

  /**
   * Events as they happen, for as long as it is read. A lost connection is made again and goes on after the last event;
   * `lastEventId` goes on where an earlier stream ended, up to 24 hours ago.
   */
  stream(options: StreamOptions = {}): AsyncGenerator<Event, void, undefined> {
    return streamEvents(this.#http, () => this.list({ limit: 100 }, { signal: options.signal }), options);
  }
}
