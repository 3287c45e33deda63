import { List, type ListParams } from '../pagination.ts';
import { type HttpClient, type RequestOptions, segment, type WriteOptions } from '../request.ts';
import type {
  CreateWebhookEndpoint,
  UpdateWebhookEndpoint,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} from '../types.ts';

const PATH = '/v1/webhook_endpoints';

export interface DeliveryListParams extends ListParams {
  /** What became of one event. */
  event_id?: string | undefined;
}

export class WebhookEndpointsResource {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  /** The answer alone carries `secret`: keep it. */
  async create(body: CreateWebhookEndpoint, options?: WriteOptions): Promise<WebhookEndpointWithSecret> {
    return hideSecret(await this.#http.send({ method: 'POST', path: PATH, body, options }));
  }

  async get(id: string, options?: RequestOptions): Promise<WebhookEndpoint> {
    return this.#http.send({ method: 'GET', path: `${PATH}/${segment(id)}`, options });
  }

  list(params?: ListParams, options?: RequestOptions): List<WebhookEndpoint> {
    return new List(this.#http, { method: 'GET', path: PATH, query: params, options });
  }

  async update(id: string, body: UpdateWebhookEndpoint, options?: RequestOptions): Promise<WebhookEndpoint> {
    return this.#http.send({ method: 'PATCH', path: `${PATH}/${segment(id)}`, body, options });
  }

  async delete(id: string, options?: RequestOptions): Promise<void> {
    return this.#http.send({ method: 'DELETE', path: `${PATH}/${segment(id)}`, options });
  }

  /** A new `secret`; the old one signs along for 24 hours. */
  async rotateSecret(id: string, options?: WriteOptions): Promise<WebhookEndpointWithSecret> {
    const path = `${PATH}/${segment(id)}/rotate_secret`;
    return hideSecret(await this.#http.send({ method: 'POST', path, options }));
  }

  /** Sends a test event to this endpoint. */
  async test(id: string, options?: WriteOptions): Promise<WebhookDelivery> {
    return this.#http.send({ method: 'POST', path: `${PATH}/${segment(id)}/test`, options });
  }

  /** What was sent to this endpoint, all of it or what became of one event. */
  deliveries(id: string, params?: DeliveryListParams, options?: RequestOptions): List<WebhookDelivery> {
    return new List(this.#http, {
      method: 'GET',
      path: `${PATH}/${segment(id)}/deliveries`,
      query: params,
      options,
    });
  }
}

/** `console.log(endpoint)` must not put the secret into a log; the field itself is there. */
function hideSecret(endpoint: WebhookEndpointWithSecret): WebhookEndpointWithSecret {
  return Object.defineProperty(endpoint, Symbol.for('nodejs.util.inspect.custom'), {
    value: () => ({ ...endpoint, secret: 'whsec_…' }),
    enumerable: false,
  });
}
