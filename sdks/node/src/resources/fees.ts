import type { HttpClient, RequestOptions } from '../request.ts';
import type { Fees } from '../types.ts';

export class FeesResource {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  /** What the payments of a month cost: `get('2026-11')`. */
  get(month: string, options?: RequestOptions): Promise<Fees> {
    return this.#http.send({ method: 'GET', path: '/v1/fees', query: { month }, options });
  }
}
