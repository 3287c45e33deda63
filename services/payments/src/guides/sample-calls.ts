/** The calls that the reference shows as code. One description becomes curl, Node and Python (`samples.ts`). */
export interface SampleCall {
  /** As in the API's document, for example `payments.get`. */
  operation: string;
  http: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /v1/${string}`;
  /** Node's method, where it is not the operation in camelCase. */
  node?: string;
  /** What `{id}` is: the name of something that an earlier call has saved. */
  id?: string;
  body?: Readonly<Record<string, unknown>>;
  query?: Readonly<Record<string, string | number>>;
  /** The SDKs take the one field of the body, or of the query, as an argument of its own. */
  bare?: boolean;
  /** Creating money moves needs a key; the SDKs make one by themselves. */
  needsKey?: boolean;
  /** How the answer is read: one object, a list that reads on, a stream that is left after its first event, or none. */
  answer?: 'object' | 'list' | 'stream' | 'bytes' | 'nothing';
}

/** A call whose answer has an id that later calls name. */
interface Preparation extends SampleCall {
  saves: string;
  /** How ids of that kind begin. */
  prefix: string;
}

type Step = SampleCall | Preparation;

export const isPreparation = (step: Step): step is Preparation => 'saves' in step;

export interface Sample {
  before?: readonly Step[];
  call: Step;
  after?: readonly SampleCall[];
}

const alice = { payment_method_id: 'pm_alice' };
const bob = { payment_method_id: 'pm_bob' };
const order = { amount: 2500, currency: 'USD', source: alice, destination: bob };

const createPayment = (rail: 'rtp' | 'ach'): Preparation => ({
  ...{ operation: 'payments.create', http: 'POST /v1/payments', needsKey: true },
  ...{ body: { ...order, rail }, saves: 'payment', prefix: 'pay' },
});
const settle: SampleCall = {
  ...{ operation: 'sandbox.settle', http: 'POST /v1/sandbox/payments/{id}/settle', id: 'payment' },
};
const stopClock: SampleCall = {
  ...{ operation: 'sandbox.set_clock', http: 'POST /v1/sandbox/clock', node: 'sandbox.advanceClock' },
  ...{ body: { advance: 'PT1S' }, bare: true },
};
const freeClock: SampleCall = {
  ...{ operation: 'sandbox.free_clock', http: 'DELETE /v1/sandbox/clock', answer: 'nothing' },
};
const createBalance: Preparation = {
  ...{ operation: 'payment_methods.create', http: 'POST /v1/payment_methods' },
  ...{ body: { type: 'balance' }, saves: 'balance', prefix: 'pm' },
};
const bankAccount = {
  routing_number: '110000000',
  account_number: '000123456789',
  account_type: 'checking',
  holder_name: 'Ada Lovelace',
  holder_type: 'individual',
};
const createEndpoint: Preparation = {
  ...{ operation: 'webhook_endpoints.create', http: 'POST /v1/webhook_endpoints' },
  ...{ body: { url: 'https://example.com/webhooks' }, saves: 'endpoint', prefix: 'we' },
};
const deleteEndpoint: SampleCall = {
  ...{ operation: 'webhook_endpoints.delete', http: 'DELETE /v1/webhook_endpoints/{id}' },
  ...{ id: 'endpoint', answer: 'nothing' },
};
const testEndpoint: Preparation = {
  ...{ operation: 'webhook_endpoints.test', http: 'POST /v1/webhook_endpoints/{id}/test' },
  ...{ id: 'endpoint', saves: 'delivery', prefix: 'dlv' },
};
const newestEvent: Preparation = {
  ...{ operation: 'events.list', http: 'GET /v1/events', query: { type: 'payment.pending', limit: 1 } },
  ...{ answer: 'list', saves: 'event', prefix: 'evt' },
};

const force = (outcome: string, body: { code: string }, node?: string): SampleCall => ({
  ...{ operation: `sandbox.${outcome}`, http: `POST /v1/sandbox/payments/{id}/${outcome}`, id: 'payment' },
  ...{ body, bare: true, ...(node === undefined ? {} : { node }) },
});
const ofEndpoint = (operation: string, http: SampleCall['http'], more: Partial<SampleCall> = {}): Sample => ({
  before: [createEndpoint],
  call: { operation, http, id: 'endpoint', ...more },
  after: [deleteEndpoint],
});
const alone = (operation: string, http: SampleCall['http'], more: Partial<SampleCall> = {}): Sample => ({
  call: { operation, http, ...more },
});

/** Every operation that a customer's program may call. Each sample works by itself, as often as it is pasted. */
export const samples: readonly Sample[] = [
  alone('payments.create', 'POST /v1/payments', { body: order, needsKey: true }),
  alone('payments.quote', 'POST /v1/payments/quote', { body: order }),
  alone('payments.list', 'GET /v1/payments', { query: { status: 'completed', limit: 10 }, answer: 'list' }),
  alone('payments.export', 'GET /v1/payments/export', { query: { status: 'completed' }, answer: 'bytes' }),
  {
    before: [createPayment('rtp')],
    call: { operation: 'payments.get', http: 'GET /v1/payments/{id}', id: 'payment' },
  },
  {
    before: [stopClock, createPayment('ach')],
    call: { operation: 'payments.cancel', http: 'POST /v1/payments/{id}/cancel', id: 'payment' },
    after: [freeClock],
  },
  {
    before: [createPayment('ach'), settle],
    call: {
      ...{ operation: 'payments.refund', http: 'POST /v1/payments/{id}/refunds', id: 'payment' },
      ...{ body: { amount: 500 }, needsKey: true },
    },
  },
  {
    before: [createPayment('rtp')],
    call: {
      ...{ operation: 'payments.messages', http: 'GET /v1/payments/{id}/messages' },
      ...{ id: 'payment', answer: 'list' },
    },
  },
  alone('payment_methods.create', 'POST /v1/payment_methods', {
    body: { type: 'bank_account', bank_account: bankAccount },
  }),
  alone('payment_methods.list', 'GET /v1/payment_methods', { query: { limit: 10 }, answer: 'list' }),
  {
    before: [createBalance],
    call: { operation: 'payment_methods.get', http: 'GET /v1/payment_methods/{id}', id: 'balance' },
  },
  {
    before: [createBalance],
    call: {
      ...{ operation: 'payment_methods.delete', http: 'DELETE /v1/payment_methods/{id}' },
      ...{ id: 'balance', answer: 'nothing' },
    },
  },
  {
    before: [],
    call: { ...createEndpoint, body: { url: 'https://example.com/webhooks', events: ['payment.completed'] } },
    after: [deleteEndpoint],
  },
  alone('webhook_endpoints.list', 'GET /v1/webhook_endpoints', { answer: 'list' }),
  ofEndpoint('webhook_endpoints.get', 'GET /v1/webhook_endpoints/{id}'),
  ofEndpoint('webhook_endpoints.update', 'PATCH /v1/webhook_endpoints/{id}', {
    body: { description: 'The shop' },
  }),
  ofEndpoint('webhook_endpoints.delete', 'DELETE /v1/webhook_endpoints/{id}', { answer: 'nothing' }),
  ofEndpoint('webhook_endpoints.rotate_secret', 'POST /v1/webhook_endpoints/{id}/rotate_secret'),
  ofEndpoint('webhook_endpoints.test', 'POST /v1/webhook_endpoints/{id}/test'),
  ofEndpoint('webhook_endpoints.deliveries', 'GET /v1/webhook_endpoints/{id}/deliveries', { answer: 'list' }),
  {
    before: [createEndpoint, testEndpoint],
    call: {
      ...{ operation: 'webhook_deliveries.retry', http: 'POST /v1/webhook_deliveries/{id}/retry' },
      id: 'delivery',
    },
    after: [deleteEndpoint],
  },
  alone('events.list', 'GET /v1/events', { query: { limit: 10 }, answer: 'list' }),
  {
    before: [createPayment('rtp'), newestEvent],
    call: { operation: 'events.get', http: 'GET /v1/events/{id}', id: 'event' },
  },
  {
    before: [createPayment('rtp'), newestEvent],
    call: { operation: 'events.stream', http: 'GET /v1/events/stream', id: 'event', answer: 'stream' },
  },
  alone('ledger.accounts', 'GET /v1/ledger/accounts', { answer: 'list' }),
  alone('ledger.entries', 'GET /v1/ledger/entries', { query: { limit: 10 }, answer: 'list' }),
  alone('ledger.check', 'GET /v1/ledger/check'),
  alone('fees.get', 'GET /v1/fees', { query: { month: '2026-11' }, bare: true }),
  alone('sandbox.get_clock', 'GET /v1/sandbox/clock'),
  { call: { ...stopClock, body: { advance: 'P1D' } }, after: [freeClock] },
  { before: [stopClock], call: freeClock },
  {
    before: [createBalance],
    call: {
      ...{ operation: 'sandbox.fund', http: 'POST /v1/sandbox/payment_methods/{id}/fund' },
      ...{ id: 'balance', body: { amount: 10_000 }, bare: true },
    },
  },
  { before: [createPayment('ach')], call: settle },
  { before: [stopClock, createPayment('ach')], call: force('reject', { code: 'R03' }), after: [freeClock] },
  { before: [createPayment('ach'), settle], call: force('return', { code: 'R10' }, 'sandbox.return_') },
  {
    before: [createPayment('ach'), settle],
    call: force('notify_of_change', { code: 'C01' }),
  },
  alone('sandbox.reset', 'POST /v1/sandbox/reset'),
];
