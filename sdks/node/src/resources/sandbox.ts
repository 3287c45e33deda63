import { type HttpClient, type RequestOptions, segment, type WriteOptions } from '../request.ts';
import type { Payment, PaymentMethod, SandboxClock, SandboxReset } from '../types.ts';

/** The network's code, by itself or as the body that the API takes. */
type Code = string | { code?: string };

/** Test keys only: PermissionDeniedError with a live one. */
export class SandboxResource {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  async getClock(options?: RequestOptions): Promise<SandboxClock> {
    return this.#http.send({ method: 'GET', path: '/v1/sandbox/clock', options });
  }

  /** Freezes the organisation's time at this moment, which must not lie before the present one. */
  async setClock(now: string | Date | { now: string }, options?: WriteOptions): Promise<SandboxClock> {
    const at = typeof now === 'string' || now instanceof Date ? now : now.now;
    const body = { now: at instanceof Date ? at.toISOString() : at };
    return this.#http.send({ method: 'POST', path: '/v1/sandbox/clock', body, options });
  }

  /** Freezes the organisation's time this much later: an ISO 8601 duration such as `P3D`. */
  async advanceClock(duration: string | { advance: string }, options?: WriteOptions): Promise<SandboxClock> {
    return this.#http.send({
      method: 'POST',
      path: '/v1/sandbox/clock',
      body: typeof duration === 'string' ? { advance: duration } : duration,
      options,
    });
  }

  /** Lets time run on from where it stands. */
  async freeClock(options?: RequestOptions): Promise<void> {
    return this.#http.send({ method: 'DELETE', path: '/v1/sandbox/clock', options });
  }

  /** Puts test money into a balance. */
  async fund(
    paymentMethodId: string,
    amount: number | { amount: number },
    options?: WriteOptions,
  ): Promise<PaymentMethod> {
    const path = `/v1/sandbox/payment_methods/${segment(paymentMethodId)}/fund`;
    return this.#http.send({
      method: 'POST',
      path,
      body: typeof amount === 'number' ? { amount } : amount,
      options,
    });
  }

  async settle(paymentId: string, options?: WriteOptions): Promise<Payment> {
    return this.#force(paymentId, 'settle', undefined, options);
  }

  /** The network's refusal, with its code: `AC04`, `R03` … */
  async reject(paymentId: string, code?: Code, options?: WriteOptions): Promise<Payment> {
    return this.#force(paymentId, 'reject', code, options);
  }

  /** The return of an ACH entry, with its code: `R01` … */
  async return_(paymentId: string, code: Code, options?: WriteOptions): Promise<Payment> {
    return this.#force(paymentId, 'return', code, options);
  }

  /** A notification of change, with its code: `C01` … */
  async notifyOfChange(paymentId: string, code?: Code, options?: WriteOptions): Promise<Payment> {
    return this.#force(paymentId, 'notify_of_change', code, options);
  }

  /** Test mode begins anew; keys and webhook endpoints stay. */
  async reset(options?: WriteOptions): Promise<SandboxReset> {
    return this.#http.send({ method: 'POST', path: '/v1/sandbox/reset', body: {}, options });
  }

  async #force(
    paymentId: string,
    outcome: string,
    code: Code | undefined,
    options: WriteOptions | undefined,
  ): Promise<Payment> {
    const path = `/v1/sandbox/payments/${segment(paymentId)}/${outcome}`;
    return this.#http.send({
      method: 'POST',
      path,
      body: typeof code === 'string' ? { code } : (code ?? {}),
      options,
    });
  }
}
