// An organisation as it looks after some days: payments in every state, methods, balances, an endpoint with deliveries.
import { createSealer } from '@libs/seal';
import { createQuarantine } from '../../../services/payments/src/quarantine/service.ts';
import { nextWindow } from '../../../services/payments/src/rails/ach/schedule/windows.ts';
import { ADMIN_TOKEN, type Harness, SEAL_KEY } from '../../contract/payments/harness.ts';
import { type Browser, signUp, verifyAddress } from '../../contract/payments/person.ts';
import { addDevices } from '../devices.ts';

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
const WAIT_MS = 60_000;

/** Eight payments have every state between them. */
export async function seed(person: Browser, receiverUrl: string, payments = 8): Promise<Seeded> {
  const post = async (path: string, body: unknown, key?: string) => {
    const headers = key === undefined ? {} : { 'idempotency-key': key };
    const answer = await person.call('POST', path, body, { headers });
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const endpoint = await post('/v1/webhook_endpoints', {
    // As long as real ones are.
    ...{ url: `${receiverUrl}/webhooks-of-payments/order-service`, description: 'Order service' },
  });
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
  for (let n = 0; n < payments; n++) {
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
  const of = (wanted: string): string => {
    const id = settled.find(({ status }) => status === wanted)?.id;
    if (id === undefined) throw new Error(`none of the payments is ${wanted}`);
    return id;
  };
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

const PUT_ASIDE = [
  [
    'ach',
    'no entry of ours has the trace 091000019999999',
    '6210210000211234567890       0000125000INV-1042       Grace Hopper            1091000010000042\n799R02091000019999999      02100002                                            021000020000001',
  ],
  [
    'rtp',
    'the status report names a transfer that was never sent',
    '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pacs.002.001.10"><FIToFIPmtStsRpt><TxInfAndSts><OrgnlEndToEndId>pay_unknown</OrgnlEndToEndId><TxSts>ACSC</TxSts></TxInfAndSts></FIToFIPmtStsRpt></Document>',
  ],
  [
    'ach',
    'the totals of the file do not add up',
    '9000001000001000000020004200004200000012500000000012500                                       ',
  ],
] as const;

const DIFFERENCES = [
  ['ach', 'live', 'amount_differs', '091000010000042', '125000', '215000', null],
  ['rtp', 'live', 'missing_in_network', '20261113021000021B0042', '4500', null, null],
  ['ach', 'test', 'state_differs', '091000010000017', 'settled', 'returned', 'now()'],
] as const;

/** What an operator has to look at: two of three things that were put aside are open, and so are two of three differences. */
export async function seedOperator(harness: Harness): Promise<void> {
  const { database } = harness;
  const sealer = createSealer({ keys: [SEAL_KEY] });
  const quarantine = createQuarantine({ database, sealer, now: () => new Date() });
  await quarantine.putAside(
    database,
    PUT_ASIDE.map(([rail, reason, content], n) => ({
      ...{ id: `quarantined_${n}`, rail, mode: 'test' as const, reason, content },
      receivedAt: new Date(Date.now() - n * 3_600_000),
    })),
  );
  await harness.call('POST', '/v1/admin/quarantine/quarantined_2/dismiss', {
    key: ADMIN_TOKEN,
    body: { reason: 'The bank sent the right file an hour later.' },
  });
  for (const [n, [rail, mode, kind, reference, ours, theirs, resolved]] of DIFFERENCES.entries())
    await database.query(
      `insert into reconciliation_differences (id, rail, mode, kind, subject, day, reference, ours, theirs, first_seen_at,
         last_seen_at, resolved_at)
       values ($1, $2, $3, $4, $5, current_date - 2, $5, $6, $7, now() - interval '1 day', now(), ${resolved})`,
      [`rdf_${n}`, rail, mode, kind, reference, ours, theirs],
    );
}

/** What only pictures need: colleagues, keys of every kind, an endpoint that fails, and a month of figures. */
export async function seedForPictures(
  harness: Harness,
  person: Browser & { organisationId: string; userId: string },
  failingUrl: string,
): Promise<{ switchedOff: string }> {
  await addDevices(harness.database, 'person_id', person.userId);
  await askForLiveAccess(harness);
  await person.call('POST', '/v1/webhook_endpoints', {
    ...{ url: failingUrl, description: 'Warehouse', events: ['payment.completed', 'payment.failed'] },
  });
  for (const [email, role] of [
    ['grace@example.com', 'developer'],
    ['katherine@example.com', 'viewer'],
  ])
    await person.call('POST', '/v1/invitations', { email, role });
  await person.call('POST', '/v1/keys', {
    ...{ name: 'Reports', scopes: ['payments:read', 'ledger:read'] },
    expires_at: new Date(Date.now() + 90 * 86_400_000).toISOString(),
  });
  await person.call('GET', '/v1/overview');
  const tenantId = `${person.organisationId}.test`;
  await harness.database.query(
    `insert into payment_figures (tenant_id, hour, rail, status, payments, amount)
     select $1, date_trunc('hour', now()) - day * interval '1 day', rail, status, n, n * (18000000 + day % 7 * 2100000)
     from generate_series(1, 29) as day, (values ('rtp', 'completed', 38), ('ach', 'completed', 17), ('book', 'completed', 6),
       ('rtp', 'failed', 1), ('ach', 'returned', 1)) as usual (rail, status, busy),
       lateral (select greatest(1, busy * (10 + day * 7 % 11 - day % 7) / 12) as n) as counted
     on conflict do nothing`,
    [tenantId],
  );
  await harness.database.query(
    `insert into payment_settle_times (tenant_id, hour, step, payments)
     select $1, date_trunc('hour', now()) - day * interval '1 day', 8, 30 from generate_series(1, 29) as day
     on conflict do nothing`,
    [tenantId],
  );
  const body = {
    ...{ amount: 48_000, currency: 'USD', rail: 'ach', description: 'Rent for December' },
    ...{ source: { payment_method_id: 'pm_alice' }, destination: { payment_method_id: 'pm_landlord' } },
  };
  await person.call('POST', '/v1/payments', body, { headers: { 'idempotency-key': 'failing deliveries' } });
  return { switchedOff: await switchOff(person, failingUrl) };
}

/** An endpoint that was to hear of something, and is switched off. */
async function switchOff(person: Browser, url: string): Promise<string> {
  const { body } = await person.call('POST', '/v1/webhook_endpoints', { url, description: 'Old warehouse' });
  const path = `/v1/webhook_endpoints/${body.id}`;
  await person.call('POST', `${path}/test`, {});
  await person.call('PATCH', path, { status: 'disabled' });
  return body.id;
}

/** Organisations whose access to live mode was asked for, given and refused. */
async function askForLiveAccess(harness: Harness): Promise<void> {
  for (const [organisation, decision] of [
    ['Looms and Sons', undefined],
    ['Difference Engines', { approved: true }],
    ['Punched Cards', { approved: false, reason: 'We need the name of your sponsor first.' }],
  ] as const) {
    const owner = await signUp(harness, { name: 'Charles Babbage', organisation });
    await verifyAddress(harness, owner);
    const reason = 'We pay 40 weavers each Friday, some $60,000 a week.';
    await owner.call('POST', '/v1/live_access', { reason });
    const path = `/v1/admin/organisations/${owner.organisationId}/live_access`;
    if (decision !== undefined) await harness.call('POST', path, { key: ADMIN_TOKEN, body: decision });
  }
}

/** A payment in each state that one does not meet by itself, and one that was refunded in part. */
export interface SeededStates {
  pending: string;
  processing: string;
  canceled: string;
  returned: string;
  refunded: string;
  refund: string;
}

/** The clock stands still afterwards, so that what is under way stays so while its picture is taken. */
export async function seedStates(person: Browser): Promise<SeededStates> {
  let keys = 0;
  const post = async (path: string, body: unknown) => {
    keys += 1;
    const answer = await person.call('POST', path, body, {
      headers: { 'idempotency-key': `state ${keys}` },
    });
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const pay = async (description: string, rail: string): Promise<string> => {
    const body = {
      ...{ amount: 125_000, currency: 'USD', rail, description },
      ...{ source: { payment_method_id: 'pm_alice' }, destination: { payment_method_id: 'pm_bob' } },
    };
    return (await post('/v1/payments', body)).id;
  };
  const refunded = await pay('Two pairs of shoes', 'rtp');
  const returned = await pay('Rent for November', 'ach');
  await waitForAll(person, [refunded, returned]);
  await post(`/v1/sandbox/payments/${returned}/return`, { code: 'R10' });
  const { id: refund } = await post(`/v1/payments/${refunded}/refunds`, {
    ...{ amount: 62_500, description: 'One pair came back' },
  });
  await waitForAll(person, [refund]);
  const { now } = await post('/v1/sandbox/clock', { advance: 'PT1S' });
  const processing = await pay('Wages', 'ach');
  // Its file leaves at the end of a banking day, which is not tomorrow on a Friday night.
  const window = nextWindow({ now: new Date(now), amountCents: 125_000, sameDay: false });
  await post('/v1/sandbox/clock', { now: window.networkDeadline.toISOString() });
  const [pending, canceled] = [await pay('Insurance', 'ach'), await pay('Ordered twice', 'ach')];
  await post(`/v1/payments/${canceled}/cancel`, {});
  return { pending, processing, canceled, returned, refunded, refund };
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
    if (performance.now() > deadlineMs)
      throw new Error(`under way after ${WAIT_MS} ms: ${JSON.stringify(own)}`);
    await new Promise((resume) => setTimeout(resume, 200));
  }
}
