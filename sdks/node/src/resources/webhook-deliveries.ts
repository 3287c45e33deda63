import { type HttpClient, segment, type WriteOptions } from '../request.ts';
import type { WebhookDelivery } from '../types.ts';

export class WebhookDeliveriesResource {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  /** Sends it again, now. */
  async retry(id: string, options?: WriteOptions): Promise<WebhookDelivery> {
    return this.#http.send({ method: 'POST', path: `/v1/webhook_deliveries/${segment(id)}/retry`, options });
  }
}
