// Processes are restarted one by one when a key comes: first all of them know it, then it seals. Nothing fails between.
import { createSealer } from '@libs/seal';
import { expect, test } from 'vitest';
import { ADMIN_TOKEN, startHarness } from '../contract/payments/harness.ts';

const OLD = Buffer.alloc(32, 1);
const NEW = Buffer.alloc(32, 2);
const under = (...keys: Buffer[]) => ({
  secrets: { sealer: createSealer({ keys }), adminToken: ADMIN_TOKEN },
});

test('a process that seals with the old key carries out what one that seals with the new key accepted', async () => {
  const worker = await startHarness({ service: under(OLD, NEW) });
  const restarted = await worker.another({ env: { PAYMENTS_ROLE: 'api' }, service: under(NEW, OLD) });
  const post = async (path: string, body: unknown) => {
    const answer = await restarted.call('POST', path, { body, headers: { 'idempotency-key': path } });
    expect(answer.status).toBeLessThan(300);
    return answer.body.id as string;
  };
  const source = await post('/v1/payment_methods', {
    type: 'bank_account',
    bank_account: {
      routing_number: '021000021',
      account_number: '1234567',
      account_type: 'checking',
      holder_name: 'Ada',
      holder_type: 'individual',
    },
  });
  const id = await post('/v1/payments', {
    ...{ amount: 500, currency: 'USD', rail: 'ach', source: { payment_method_id: source } },
    destination: { payment_method_id: 'pm_b' },
  });
  await expect
    .poll(async () => (await worker.call('GET', `/v1/payments/${id}`)).body.status)
    .toBe('completed');
  await worker.stop();
});
