import type { Queryable } from '@libs/db';
import type { Promised } from './load.ts';

const KEY = 'sk_test_sandbox';

/** What a process needs beside its database and its key. */
export const PAYMENTS_ENV = {
  PAYMENTS_RATE_TEST: '0',
  PAYMENTS_SANDBOX_RTP_MS: '10',
  PAYMENTS_LOG_LEVEL: 'error',
  NODE_ENV: 'development',
};

export async function callPayments(
  url: string,
  method: string,
  path: string,
  { body, key }: { body?: object; key?: string } = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${KEY}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const ORDER = {
  amount: 2_500,
  currency: 'USD',
  source: { payment_method_id: 'pm_alice' },
  destination: { payment_method_id: 'pm_bob' },
  rail: 'rtp',
};

export async function sendPayment(url: string, key: string): Promise<string> {
  const { status, body } = await callPayments(url, 'POST', '/v1/payments', { body: ORDER, key });
  if (status !== 202) throw new Error(`${status} ${body.code}`);
  return String(body.id);
}

/** What became of the payments: how many are there, and how many have come to their end. */
export async function fateOf(
  database: Queryable,
  promised: readonly Promised[],
): Promise<{ present: number; completed: number }> {
  const { rows } = await database.query<{ present: number; completed: number }>(
    `select count(*)::int as present, (count(*) filter (where status = 'completed'))::int as completed
     from payments.payments where id = any($1)`,
    [promised.map(({ id }) => id)],
  );
  return rows[0] ?? { present: 0, completed: 0 };
}
