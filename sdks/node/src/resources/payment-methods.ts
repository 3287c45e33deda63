import { List, type ListParams } from '../pagination.ts';
import { type HttpClient, type RequestOptions, segment, type WriteOptions } from '../request.ts';
import type { CreatePaymentMethod, PaymentMethod } from '../types.ts';

export interface PaymentMethodFilters {
  type?: 'bank_account' | 'balance' | undefined;
  fingerprint?: string | undefined;
}

export class PaymentMethodsResource {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  async create(body: CreatePaymentMethod, options?: WriteOptions): Promise<PaymentMethod> {
    return this.#http.send({ method: 'POST', path: '/v1/payment_methods', body, options });
  }

  async get(id: string, options?: RequestOptions): Promise<PaymentMethod> {
    return this.#http.send({ method: 'GET', path: `/v1/payment_methods/${segment(id)}`, options });
  }

  list(params?: PaymentMethodFilters & ListParams, options?: RequestOptions): List<PaymentMethod> {
    return new List(this.#http, { method: 'GET', path: '/v1/payment_methods', query: params, options });
  }

  /** ConflictError while payments of it are open, or while a balance holds money. */
  async delete(id: string, options?: RequestOptions): Promise<void> {
    return this.#http.send({ method: 'DELETE', path: `/v1/payment_methods/${segment(id)}`, options });
  }
}
