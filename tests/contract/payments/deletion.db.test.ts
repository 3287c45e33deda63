// Deleting a payment method beside payments with it, at the same moment and over two processes.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, type Instance, startHarness } from './harness.ts';

let harness: Harness;
let second: Instance;
let key: string;
let keys = 0;

beforeAll(async () => {
  // No worker: what was accepted stays open, so a deletion beside it must have been refused.
  harness = await startHarness({ env: { PAYMENTS_ROLE: 'api' } });
  second = await harness.another();
  key = (await harness.organisation()).test;
});
afterAll(() => harness.stop());

async function open(type: 'bank_account' | 'balance'): Promise<string> {
  const bank_account = {
    ...{ routing_number: '021000021', account_number: '123456789', account_type: 'checking' },
    ...{ holder_name: 'Ada', holder_type: 'individual' },
  };
  const body = type === 'balance' ? { type } : { type, bank_account };
  const made = await harness.call('POST', '/v1/payment_methods', { key, body });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}

function pay(on: Instance, destination: string, more: object = { rail: 'ach' }) {
  keys += 1;
  return on.call('POST', '/v1/payments', {
    key,
    headers: { 'idempotency-key': `deletion ${keys}` },
    body: {
      ...{ amount: 100, currency: 'USD' },
      source: { payment_method_id: 'pm_payer' },
      destination: { payment_method_id: destination },
      ...more,
    },
  });
}

test('[P-4.29] a method is deleted or a payment with it is accepted, never both, and nobody is turned away for the crowd', async () => {
  await pay(harness, 'pm_warm_up');
  let overlaps = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('bank_account' as const, 'balance' as const),
      fc.array(fc.record({ other: fc.boolean(), delayMs: fc.integer({ min: 0, max: 6 }) }), {
        minLength: 1,
        maxLength: 10,
      }),
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 0, max: 6 }),
      async (type, payers, deleters, deleteAfterMs) => {
        const [id, ...others] = await Promise.all(Array.from({ length: deleters }, () => open(type)));
        const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
        const payments = Promise.all(
          payers.map(async ({ other, delayMs }) => {
            await wait(delayMs);
            return pay(other ? second : harness, id as string);
          }),
        );
        await wait(deleteAfterMs);
        // The others change the tenant again and again, which must not wear out whoever is accepting.
        const [deletion] = await Promise.all(
          [id, ...others].map((method, index) =>
            (index % 2 === 0 ? harness : second).call('DELETE', `/v1/payment_methods/${method}`, { key }),
          ),
        );
        const accepted = (await payments).filter(({ status }) => status === 202);
        const refused = (await payments).filter(({ status }) => status !== 202);
        expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
          refused.map(() => [422, 'payment_method_not_found']),
        );
        const deleted = deletion?.status === 204;
        expect([204, 409]).toContain(deletion?.status);
        expect([accepted.length > 0, deleted]).toEqual(deleted ? [false, true] : [true, false]);
        if (refused.length > 0 || !deleted) overlaps += 1;
      },
    ),
    { numRuns: 25 },
  );
  expect(overlaps).toBeGreaterThan(0);
});

test('[P-4.29] a payment from a deleted balance is told so, also by a process that remembers the balance', async () => {
  // Both are stored, so that nothing has to be read for the next payment.
  const [id, destination] = [await open('balance'), await open('balance')];
  const payFrom = async (on: Instance) =>
    (await pay(on, destination, { source: { payment_method_id: id } })).body;
  const codes = async () => [(await payFrom(harness)).code, (await payFrom(second)).code];
  expect(await codes()).toEqual(['insufficient_funds', 'insufficient_funds']);
  expect((await harness.call('DELETE', `/v1/payment_methods/${id}`, { key })).status).toBe(204);
  expect(await codes()).toEqual(['payment_method_not_found', 'payment_method_not_found']);
  expect((await payFrom(harness)).errors).toMatchObject([{ pointer: '/source/payment_method_id' }]);
});
