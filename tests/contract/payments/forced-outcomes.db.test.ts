// An outcome that is ordered in the sandbox at the very moment at which its network answers.
import type { Transaction } from '@libs/db';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Harness, startHarness } from './harness.ts';

let harness: Harness;
let key: string;

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '5' } });
  key = (await harness.organisation()).test;
});
afterAll(() => harness.stop());

async function pay(destination: string): Promise<string> {
  const { body } = await harness.call('POST', '/v1/payments', {
    key,
    headers: { 'idempotency-key': `to ${destination}` },
    body: {
      ...{ amount: 700, currency: 'USD', rail: 'rtp' },
      source: { payment_method_id: 'pm_payer' },
      destination: { payment_method_id: destination },
    },
  });
  return body.id;
}

/** The network has looked into its books and waits for the number of its answer; both go on when the order is carried out. */
async function orderWhileAnswering(destination: string, outcome: 'settle' | 'reject') {
  let ordered: Answer | undefined;
  let id = '';
  const isAnswering = async (tx: Transaction) => {
    await tx.query('select pg_stat_clear_snapshot()');
    const { rows } = await tx.query(
      `select 1 from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like '%sandbox_rtp_serials%'`,
    );
    return rows.length;
  };
  await harness.database.transaction(async (tx) => {
    await tx.query('alter sequence sandbox_rtp_serials increment by 1');
    id = await pay(destination);
    await expect.poll(() => isAnswering(tx)).toBe(1);
    ordered = await harness.call('POST', `/v1/sandbox/payments/${id}/${outcome}`, { key, body: {} });
  });
  const states = async () => {
    const { rows } = await harness.database.query<{ ours: string; network: string }>(
      `select s.state as ours, n.status as network from rtp_submissions s join sandbox_rtp_transfers n using (instruction_id)
       where s.payment_id = $1`,
      [id],
    );
    return rows[0];
  };
  await expect.poll(async () => (await states())?.ours).not.toBe('sent');
  const { status } = (await harness.call('GET', `/v1/payments/${id}`, { key })).body;
  return { ordered: [ordered?.status, ordered?.body.status], status, ...(await states()) };
}

test('[P-7.2] a payment that is refused by order while the network accepts it is refused in all books', async () => {
  expect(await orderWhileAnswering('pm_shop', 'reject')).toEqual({
    ...{ ordered: [200, 'failed'], status: 'failed', ours: 'rejected', network: 'RJCT' },
  });
  expect((await harness.call('GET', '/v1/ledger/check', { key })).body.ok).toBe(true);
});

test('[P-7.2] a payment that is settled by order while the network refuses it is settled in all books', async () => {
  expect(await orderWhileAnswering('pm_test_rtp_reject_ac04', 'settle')).toEqual({
    ...{ ordered: [200, 'completed'], status: 'completed', ours: 'accepted', network: 'ACTC' },
  });
  expect((await harness.call('GET', '/v1/ledger/check', { key })).body.ok).toBe(true);
});
