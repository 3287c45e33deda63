// The keys of Payments rotate under real data, with a process running beside it; then the old key is gone.
import { createSealer } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createQuarantine } from '../../services/payments/src/quarantine/service.ts';
import { sealedColumns } from '../../services/payments/src/rotation/columns.ts';
import { ADMIN_TOKEN, type Answer, type Harness, startHarness } from '../contract/payments/harness.ts';
import { openEverything, runRotation } from './command.ts';

const OLD = Buffer.alloc(32, 1);
const NEW = Buffer.alloc(32, 2);
const under = (...keys: Buffer[]) => ({
  secrets: { sealer: createSealer({ keys }), adminToken: ADMIN_TOKEN },
});

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({ service: under(OLD) });
});
afterAll(() => harness.stop());

const account = (number: string) => ({
  type: 'bank_account',
  bank_account: {
    routing_number: '021000021',
    account_number: number,
    account_type: 'checking',
    holder_name: 'Ada',
    holder_type: 'individual',
  },
});

async function pay(key: string, body: Record<string, unknown>): Promise<string> {
  const { body: payment, status: answered } = await harness.call('POST', '/v1/payments', {
    body: { amount: 500, currency: 'USD', ...body },
    headers: { 'idempotency-key': key },
  });
  expect([answered, payment.detail]).toEqual([202, undefined]);
  const status = async () => (await harness.call('GET', `/v1/payments/${payment.id}`)).body.status;
  await expect.poll(status).toBe('completed');
  return payment.id;
}

const columns = sealedColumns(under(NEW).secrets.sealer);

test('after the rotation everything opens with the new key alone', async () => {
  const addMethod = (call: Harness['call'], key: string, number = '1234567') =>
    call('POST', '/v1/payment_methods', { body: account(number), headers: { 'idempotency-key': key } });
  const first = await addMethod(harness.call, 'method-1');
  expect(first.status).toBe(201);
  const endpoint = await harness.call('POST', '/v1/webhook_endpoints', {
    body: { url: 'http://127.0.0.1:9/hook' },
  });
  expect(endpoint.status).toBe(201);
  const destination = { payment_method_id: 'pm_b' };
  const rtp = await pay('rtp', {
    source: { payment_method_id: 'pm_a' },
    destination,
    rail: 'rtp',
  });
  const ach = await pay('ach', { source: { payment_method_id: first.body.id }, destination, rail: 'ach' });
  await pay('noc', { source: { payment_method_id: 'pm_test_ach_noc_C01' }, destination, rail: 'ach' });
  const quarantine = createQuarantine({
    database: harness.database,
    ...under(OLD).secrets,
    now: () => new Date(),
  });
  await quarantine.putAside(harness.database, [
    {
      id: 'qrt_1',
      rail: 'rtp',
      mode: 'test',
      reason: 'unmatched',
      receivedAt: new Date(),
      content: '<odd/>',
    },
  ]);
  const before = await openEverything(harness.database, columns, [OLD]);
  expect(Object.entries(before).filter(([, count]) => count === 0)).toEqual([]);
  const messages = (await harness.call('GET', `/v1/payments/${rtp}/messages`)).text;

  // Processes get the new list first; one of them runs on while the command works.
  const beside = await harness.another({ service: under(NEW, OLD) });
  const second = await addMethod(beside.call, 'method-2');
  // That process seals anew from its start on, and may have come to the first one before the second was there.
  const printsOf = (instance: Pick<Harness, 'call'>) =>
    Promise.all(
      [first, second].map(
        async ({ body }) =>
          (await instance.call('GET', `/v1/payment_methods/${body.id}`)).body.bank_account.fingerprint,
      ),
    );
  await expect.poll(async () => new Set(await printsOf(beside)).size).toBe(1);
  const { code, lines } = await runRotation('payments', {
    DATABASE_URL: harness.testDatabase.url,
    PAYMENTS_ENCRYPTION_KEY: `${NEW.toString('base64')},${OLD.toString('base64')}`,
    PAYMENTS_ADMIN_TOKEN: ADMIN_TOKEN,
  });
  expect(code).toBe(0);
  expect(lines.at(-1)).toMatch(
    /^payments: \d+ under key \w{8} \(newest\): the keys behind the first may be removed from PAYMENTS_ENCRYPTION_KEY$/,
  );
  await openEverything(harness.database, columns, [NEW]);

  const alone = await harness.another({ service: under(NEW) });
  const read = (path: string, options?: Parameters<typeof alone.call>[2]): Promise<Answer> =>
    alone.call('GET', path, options);
  expect((await read(`/v1/payments/${rtp}/messages`)).text).toBe(messages);
  expect((await read(`/v1/payments/${ach}/messages`)).body.data.length).toBeGreaterThan(0);
  expect((await read('/v1/admin/quarantine/qrt_1', { key: ADMIN_TOKEN })).body.content).toBe('<odd/>');
  expect((await addMethod(alone.call, 'method-1')).text).toBe(first.text);
  expect((await addMethod(alone.call, 'method-1', '7654321')).body.code).toBe('idempotency_key_reused');
  const third = await addMethod(alone.call, 'method-3');
  expect(new Set([...(await printsOf(alone)), third.body.bank_account.fingerprint]).size).toBe(1);
  expect((await alone.call('POST', `/v1/webhook_endpoints/${endpoint.body.id}/test`)).status).toBe(202);
  expect(alone.errors).toEqual([]);
});
