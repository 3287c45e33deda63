import { expect } from 'vitest';
import type { Answer, Harness, Instance } from './harness.ts';

/** A payment as it is asked for, good unless told otherwise. */
export const payment = (more: object = {}) => ({
  amount: 2_500,
  currency: 'USD',
  source: { payment_method_id: 'pm_alice' },
  destination: { payment_method_id: 'pm_bob' },
  ...more,
});

interface PostOptions {
  idempotencyKey?: string;
  on?: Instance;
  key?: string;
}

/** Payments under keys of their own, on what runs by the time they are asked for. */
export function payingOn(harness: () => Harness) {
  let keys = 0;
  return {
    post(body: unknown, { idempotencyKey, on = harness(), key }: PostOptions = {}): Promise<Answer> {
      keys += 1;
      return on.call('POST', '/v1/payments', {
        body,
        headers: { 'idempotency-key': idempotencyKey ?? `key-${keys}` },
        ...(key === undefined ? {} : { key }),
      });
    },

    /** The payment once it has come to that state. */
    async settled(id: string, status = 'completed', key?: string): Promise<Answer['body']> {
      const read = async () =>
        (await harness().call('GET', `/v1/payments/${id}`, key === undefined ? {} : { key })).body;
      await expect.poll(async () => (await read()).status, { interval: 25 }).toBe(status);
      return read();
    },
  };
}
