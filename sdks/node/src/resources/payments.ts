import { untilSilent } from '../body-stream.ts';
import { checkOptions, readNumber } from '../config.ts';
import { PaymentsError } from '../errors.ts';
import { List, type ListParams } from '../pagination.ts';
import { type HttpClient, type RequestOptions, segment, sleep, type WriteOptions } from '../request.ts';
import { askedMs } from '../retry.ts';
import type {
  CreatePayment,
  CreateRefund,
  Payment,
  PaymentStatus,
  Quote,
  Rail,
  RailMessage,
} from '../types.ts';
import { judge, lookTimeoutMs, UnexpectedStatusError, WaitTimeoutError } from '../wait.ts';

const WAIT_TIMEOUT_MS = 60_000;
const POLL_FIRST_MS = 200;
const POLL_LAST_MS = 5_000;
const POLL_GROWTH = 1.5;

export interface PaymentFilters {
  status?: PaymentStatus | undefined;
  /** The rail that was selected. */
  rail?: Rail | undefined;
  /** On either side. */
  payment_method?: string | undefined;
  /** Inclusive. */
  created_after?: string | Date | undefined;
  /** Exclusive. */
  created_before?: string | Date | undefined;
  /** How the id begins. */
  id_prefix?: string | undefined;
  /** The refunds of this payment. */
  refund_of?: string | undefined;
  metadata?: Record<string, string> | undefined;
}

export interface WaitOptions {
  /** 60 s where it is absent. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

const waitOptionNames = ['timeoutMs', 'signal'] as const satisfies readonly (keyof WaitOptions)[];

export class PaymentsResource {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  /** Accepted at once, with status `pending`; what happens then is told by `waitFor`, `get`, or webhooks. */
  async create(body: CreatePayment, options?: WriteOptions): Promise<Payment> {
    return this.#http.send({ method: 'POST', path: '/v1/payments', body, options });
  }

  async get(id: string, options?: RequestOptions): Promise<Payment> {
    return this.#http.send({ method: 'GET', path: `/v1/payments/${segment(id)}`, options });
  }

  list(params?: PaymentFilters & ListParams, options?: RequestOptions): List<Payment> {
    return new List(this.#http, { method: 'GET', path: '/v1/payments', query: params, options });
  }

  /** Only while it is `pending`; ConflictError otherwise. */
  async cancel(id: string, options?: WriteOptions): Promise<Payment> {
    return this.#http.send({ method: 'POST', path: `/v1/payments/${segment(id)}/cancel`, options });
  }

  /** Which rail this payment would take, what it would cost, and when it would settle. Moves nothing. */
  async quote(body: CreatePayment, options?: WriteOptions): Promise<Quote> {
    return this.#http.send({ method: 'POST', path: '/v1/payments/quote', body, options });
  }

  /** A payment the other way, of all that is left or of `amount`. */
  async refund(id: string, body: CreateRefund = {}, options?: WriteOptions): Promise<Payment> {
    return this.#http.send({ method: 'POST', path: `/v1/payments/${segment(id)}/refunds`, body, options });
  }

  /** What went over the rails for this payment. */
  messages(id: string, params?: ListParams, options?: RequestOptions): List<RailMessage> {
    const path = `/v1/payments/${segment(id)}/messages`;
    return new List(this.#http, { method: 'GET', path, query: params, options });
  }

  /** Payments as CSV, in pieces as they arrive. */
  async *export(
    params?: PaymentFilters,
    options?: RequestOptions,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const query = { format: 'csv', ...params };
    const request = { method: 'GET', path: '/v1/payments/export', query, options } as const;
    const answer = await this.#http.open(request, 'text/csv');
    try {
      yield* untilSilent(answer.response, 'The export was cut.');
    } catch (cause) {
      options?.signal?.throwIfAborted();
      throw cause;
    } finally {
      await answer.close();
    }
  }

  /**
   * The payment, once it has this status (or one of these). WaitTimeoutError when it takes longer than `timeoutMs`;
   * UnexpectedStatusError at once when it can no longer get there.
   */
  async waitFor(
    id: string,
    status: PaymentStatus | readonly PaymentStatus[],
    options: WaitOptions = {},
  ): Promise<Payment> {
    checkOptions(options, waitOptionNames);
    const wanted = [status].flat() as PaymentStatus[];
    if (wanted.length === 0) throw new TypeError('waitFor needs a status to wait for.');
    // Less than nothing, which is what is left of a time that is over, is one look.
    const { NEGATIVE_INFINITY, POSITIVE_INFINITY } = Number;
    const timeoutMs = readNumber(
      'timeoutMs',
      options.timeoutMs ?? WAIT_TIMEOUT_MS,
      NEGATIVE_INFINITY,
      POSITIVE_INFINITY,
    );
    const endsMs = performance.now() + timeoutMs;
    let payment: Payment | undefined;
    let failure: unknown;
    for (let pauseMs = POLL_FIRST_MS; ; pauseMs = Math.min(POLL_LAST_MS, pauseMs * POLL_GROWTH)) {
      const lookMs = lookTimeoutMs(endsMs - performance.now(), this.#http.timeoutMs);
      let leastMs = 0;
      try {
        payment = await this.get(id, { timeoutMs: lookMs, maxRetries: 0, signal: options.signal });
        failure = undefined;
        const verdict = judge(payment, wanted);
        if (verdict === 'there') return payment;
        if (verdict === 'pointless') throw new UnexpectedStatusError(payment, wanted);
      } catch (error) {
        // A server that restarts meanwhile is no reason to stop waiting; a refusal is.
        if (!(error instanceof PaymentsError && error.retryable)) throw error;
        failure = error;
        leastMs = askedMs(error.retry_after);
      }
      const rest = endsMs - performance.now();
      if (rest <= 0) {
        const seen = payment === undefined ? 'was not seen' : `is ${payment.status}`;
        throw new WaitTimeoutError(`Payment ${id} ${seen} after ${timeoutMs} ms.`, payment, failure);
      }
      await sleep(Math.min(Math.max(pauseMs, leastMs), rest), options.signal);
    }
  }
}
