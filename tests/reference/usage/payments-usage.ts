// What a program does with a client that was generated from the reference of Payments.
import createClient from 'openapi-fetch';
import type { components, paths } from './payments.d.ts';

type Payment = components['schemas']['Payment'];
declare const process: { env: Record<string, string> };

const client = createClient<paths>({
  baseUrl: process.env.PAYMENTS_URL ?? '',
  headers: { Authorization: 'Bearer sk_test_sandbox' },
});

function taken<Data>(answer: { data?: Data; error?: components['schemas']['Problem'] }): Data {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

function expect(isTrue: boolean, about: unknown): void {
  if (!isTrue) throw new Error(JSON.stringify(about));
}

const body: components['schemas']['CreatePayment'] = {
  amount: 4200,
  currency: 'USD',
  source: { payment_method_id: 'pm_alice' },
  destination: { payment_method_id: 'pm_test_no_rtp' },
  metadata: { order: '4200' },
};
const header = { 'Idempotency-Key': 'generated-client' };

const payment: Payment = taken(await client.POST('/v1/payments', { params: { header }, body }));
expect(payment.rail_selected === 'ach', payment);

const again = taken(await client.POST('/v1/payments', { params: { header }, body }));
expect(again.id === payment.id, again);

const got = taken(await client.GET('/v1/payments/{id}', { params: { path: { id: payment.id } } }));
expect(got.timeline[0]?.status === 'pending', got);

const query = { status: 'pending', rail: 'ach', limit: 1, metadata: { order: '4200' } } as const;
const page = taken(await client.GET('/v1/payments', { params: { query } }));
expect(page.data[0]?.id === payment.id && page.next_cursor === null, page);

const quote = taken(await client.POST('/v1/payments/quote', { body }));
expect(quote.rail_decision.candidates.length > 0, quote);

const balance = taken(await client.POST('/v1/payment_methods', { body: { type: 'balance' } }));
expect(balance.balance?.available === 0, balance);
const funded = taken(
  await client.POST('/v1/sandbox/payment_methods/{id}/fund', {
    params: { path: { id: balance.id } },
    body: { amount: 500 },
  }),
);
expect(funded.balance?.available === 500, funded);

const ofBalances = { params: { query: { type: 'balance' } } } as const;
const methods = taken(await client.GET('/v1/payment_methods', ofBalances));
expect(
  methods.data.every(({ type }) => type === 'balance'),
  methods,
);

const ofPayment = { params: { query: { type: 'payment.pending', object_id: payment.id } } } as const;
const events = taken(await client.GET('/v1/events', ofPayment));
expect(events.data.length === 1 && events.data[0]?.type === 'payment.pending', events);

const entries = taken(
  await client.GET('/v1/ledger/entries', { params: { query: { payment_id: payment.id } } }),
);
expect(entries.data.length === 2, entries);

const canceled = taken(
  await client.POST('/v1/payments/{id}/cancel', { params: { path: { id: payment.id } } }),
);
expect(canceled.status === 'canceled', canceled);

const refused = await client.POST('/v1/payments/{id}/cancel', { params: { path: { id: payment.id } } });
expect(refused.error?.code === 'payment_not_cancelable', refused.error);

// What the types must refuse.
// @ts-expect-error the key is required
void (() => client.POST('/v1/payments', { body }));
// @ts-expect-error there is no such status
void (() => client.GET('/v1/payments', { params: { query: { status: 'lost' } } }));
// @ts-expect-error there is no such field
void (() => client.POST('/v1/payment_methods', { body: { type: 'balance', color: 'red' } }));
