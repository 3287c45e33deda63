import { expect } from 'vitest';
import type { PaymentsError } from '../src/index.ts';

/** What a call that must fail fails with. */
export async function failure(promise: PromiseLike<unknown>): Promise<PaymentsError> {
  return promise.then(
    () => expect.fail('it was to fail'),
    (error) => error,
  );
}

/** A payment that any server would take. */
export const body = {
  amount: 100,
  currency: 'USD',
  source: { payment_method_id: 'pm_a' },
  destination: { payment_method_id: 'pm_b' },
};
