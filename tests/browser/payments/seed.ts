// An organisation as it looks after some days: payments in every state, methods, balances, an endpoint with deliveries.
import type { Browser } from '../../contract/payments/person.ts';

export interface Seeded {
  completed: string;
  failed: string;
  balance: string;
  endpoint: string;
  event: string;
  log: string;
}

const DESTINATIONS = [
  'pm_bob',
  'pm_carol',
  'pm_test_no_rtp',
  'pm_test_ach_return_r01',
  'pm_test_rtp_reject_ac04',
  'pm_dave',
];
const PAYMENTS = 24;
const WAIT_MS = 20_000;

export async function seed(person: Browser, receiverUrl: string): Promise<Seeded> {
  const post = async (path: string, body: unknown, key?: string) => {
    const headers = key === undefined ? {} : { 'idempotency-key': key };
    const answer = await person.call('POST', path, body, { headers });
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const endpoint = await post('/v1/webhook_endpoints', { url: receiverUrl, description: 'Order service' });
  const balance = await post('/v1/payment_methods', { type: 'balance' });
  await post(`/v1/sandbox/payment_methods/${balance.id}/fund`, { amount: 12_500_000 });
  await post('/v1/payment_methods', {
    type: 'bank_account',
    bank_account: {
      ...{ routing_number: '021000021', account_number: '123456789', account_type: 'checking' },
      ...{ holder_name: 'Grace Hopper', holder_type: 'individual' },
    },
  });
  await post('/v1/keys', { name: 'Server' }).catch(() => undefined);
  const ids: string[] = [];
  for (let n = 0; n < PAYMENTS; n++) {
    const body = {
      amount: 1_050 + n * n * 3_711,
      currency: 'USD',
      source: { payment_method_id: n % 4 === 3 ? balance.id : 'pm_alice' },
      destination: { payment_method_id: DESTINATIONS[n % DESTINATIONS.length] },
      ...(n % 3 === 0 ? { description: `Invoice ${1_000 + n}` } : {}),
      metadata: { order: String(n) },
    };
    ids.push((await post('/v1/payments', body, `seed-${n}`)).id);
  }
  const settled = await waitForAll(person, ids);
  const of = (status: string) =>
    settled.find((payment) => payment.status === status)?.id ?? (ids[0] as string);
  const events = await person.call('GET', `/v1/events?object_id=${of('completed')}`);
  return {
    completed: of('completed'),
    failed: of('failed'),
    balance: balance.id,
    endpoint: endpoint.id,
    event: events.body.data[0].id,
    log: await waitForLog(person),
  };
}

/** Calls are written a moment after they were answered. */
async function waitForLog(person: Browser): Promise<string> {
  const deadlineMs = performance.now() + WAIT_MS;
  for (;;) {
    const { body } = await person.call('GET', '/v1/request_logs?path=/v1/payments');
    if (body.data.length > 0) return body.data[0].id;
    if (performance.now() > deadlineMs) throw new Error('no call was logged');
    await new Promise((resume) => setTimeout(resume, 100));
  }
}

/** Until none of them is under way. */
async function waitForAll(
  person: Browser,
  ids: readonly string[],
): Promise<{ id: string; status: string }[]> {
  const deadlineMs = performance.now() + WAIT_MS;
  for (;;) {
    const { body } = await person.call('GET', '/v1/payments?limit=100');
    const own = (body.data as { id: string; status: string }[]).filter(({ id }) => ids.includes(id));
    if (own.every(({ status }) => status !== 'pending' && status !== 'processing')) return own;
    if (performance.now() > deadlineMs) return own;
    await new Promise((resume) => setTimeout(resume, 200));
  }
}
