// What the rails show over HTTP: a payment's messages to its owner, a day's reconciliation to the operator.
import { type App, createApp } from '@libs/http';
import { createMetrics } from '@libs/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromNewYork } from '../clock/new-york.ts';
import { errors } from '../errors.ts';
import { createGates } from '../keys/access.ts';
import { type Caller, scopes } from '../keys/key.ts';
import { createPaymentReading } from '../payments/reading.ts';
import { createQuarantineResolving } from '../quarantine/resolving.ts';
import { registerQuarantineRoutes } from '../quarantine/routes.ts';
import { createQuarantine } from '../quarantine/service.ts';
import { reconcile } from '../reconciliation/comparison.ts';
import { registerReconciliationRoutes } from '../reconciliation/routes.ts';
import { createReconciliation, type Reconciliation } from '../reconciliation/service.ts';
import { createPaymentsRoutes } from '../route-rules.ts';
import { type Tenant, tenantOf } from '../tenant.ts';
import { achBooks } from './ach/books/books.ts';
import { createAchFiles } from './ach/files.ts';
import { lockForForcing } from './ach/forcing.ts';
import { applyAside } from './ach/incoming/applying.ts';
import { readNacha } from './ach/nacha/read.ts';
import { registerAchRoutes } from './ach/routes.ts';
import { createHouse, type House } from './ach/test/house.ts';
import type { RailId } from './rail-ids.ts';
import { registerRailRoutes } from './routes.ts';
import { rtpBooks } from './rtp/books/books.ts';

const ADMIN = 'the-token-of-the-operator';
const DAY = '2083-03-01';
const rails = [
  { id: 'ach', books: achBooks },
  { id: 'rtp', books: rtpBooks },
] as const;

/** Who calls is another feature's matter: here the token is the organisation. */
const whoeverTheTokenNames = {
  authenticate: (token: string): Caller => ({
    tenant: tenantOf(token, 'test'),
    keyId: 'key_any',
    scopes: new Set(scopes),
  }),
};
const unlimited = { enforce: () => {} };

let house: House;
let app: App;
let tenant: Tenant;
let reconciliation: Reconciliation;

beforeAll(async () => {
  house = await createHouse();
  const { database, context } = house;
  await house.startWorking();
  tenant = await house.addTenant('org_routes');
  await house.moveClock(tenant, fromNewYork(DAY, '09:00'));
  reconciliation = createReconciliation(reconciling(() => new Date()));
  app = await createApp({
    name: 'payments',
    version: '0.0.0',
    publicUrl: 'http://localhost',
    logLevel: 'silent',
    errors,
    defaultMetrics: false,
  });
  app.decorateRequest('caller', null as never);
  app.decorateRequest('person', null);
  const routes = createPaymentsRoutes(app, {
    gates: createGates({
      keys: whoeverTheTokenNames,
      people: { findCaller: async () => undefined },
      rates: { live: unlimited, test: unlimited, person: unlimited, address: unlimited },
      adminToken: ADMIN,
      publicUrl: 'http://localhost',
    }),
    replyOnce: () => Promise.reject(new Error('nothing here is written')),
    audit: { record: () => Promise.reject(new Error('nobody is a person here')) },
  });
  registerRailRoutes(routes, { getPayment: house.payments.get, messages: house.messages });
  registerReconciliationRoutes(routes, reconciliation);
  const quarantine = createQuarantine(context);
  const resolving = createQuarantineResolving({
    ...{ database, quarantine, now: () => new Date() },
    lockPayments: context.lockPayments,
    findPayment: createPaymentReading({ databases: { test: database, live: database } }).find,
    rails: {
      lockFor: lockForForcing,
      applyAside: (tx, payment, content) => applyAside(context, tx, payment, content),
    },
  });
  registerQuarantineRoutes(routes, { quarantine, resolving });
  registerAchRoutes(routes, createAchFiles(context));
});
afterAll(async () => {
  await app.close();
  await house.close();
});

function reconciling(now: () => Date) {
  const { database, context } = house;
  return {
    ...{ database, now, rails, newId: context.newId, log: context.log, secondLookAfterMs: 0 },
    metrics: createMetrics({ service: 'payments', processMetrics: false }),
    onError: (error: unknown) => house.errors.push(error),
  };
}

async function get(url: string, headers: Record<string, string> = {}) {
  const response = await app.inject({ method: 'GET', url, headers });
  return { status: response.statusCode, body: response.json() };
}

describe('GET /v1/payments/:id/messages', () => {
  test('shows the lines of this payment alone, newest first, page by page', async () => {
    const id = await house.pay(tenant, { destinationId: 'pm_test_ach_noc_c04' });
    await house.pay(tenant);
    await house.idle();
    await house.moveClock(tenant, fromNewYork('2083-03-03', '09:00'));
    const url = `/v1/payments/${id}/messages`;
    const { status, body } = await get(url, { authorization: 'Bearer org_routes' });
    expect(status).toBe(200);
    expect(body).toEqual({
      object: 'list',
      data: ['noc', 'nacha', 'nacha'].map((kind) => ({
        id: expect.stringMatching(/^msg_/),
        object: 'rail_message',
        rail: 'ach',
        direction: kind === 'noc' ? 'in' : 'out',
        kind,
        content: expect.any(String),
        created_at: expect.stringMatching(/^2083-03-0\d/),
      })),
      next_cursor: null,
    });
    for (const { content } of body.data) {
      const read = readNacha(content);
      expect(read.ok && read.file.batches.flatMap((batch) => batch.entries)).toHaveLength(1);
    }
    const first = await get(`${url}?limit=2`, { authorization: 'Bearer org_routes' });
    expect(first.body.data).toEqual(body.data.slice(0, 2));
    const second = await get(`${url}?limit=2&cursor=${first.body.next_cursor}`, {
      authorization: 'Bearer org_routes',
    });
    expect(second.body).toEqual({ object: 'list', data: body.data.slice(2), next_cursor: null });
  });

  test("another organisation's payment and no payment at all look the same", async () => {
    const id = await house.pay(tenant);
    const without = ({ status, body }: Awaited<ReturnType<typeof get>>) => ({
      status,
      body: { ...body, request_id: '' },
    });
    const foreign = await get(`/v1/payments/${id}/messages`, { authorization: 'Bearer org_other' });
    const unknown = await get('/v1/payments/pay_nothing/messages', { authorization: 'Bearer org_other' });
    expect(foreign.status).toBe(404);
    expect(without(foreign)).toEqual(without(unknown));
  });

  test('a payment that has not left yet has none', async () => {
    const id = await house.pay(tenant);
    const { body } = await get(`/v1/payments/${id}/messages`, { authorization: 'Bearer org_routes' });
    expect(body.data).toEqual([]);
  });
});

const admin = { authorization: `Bearer ${ADMIN}` };

describe('quarantine', () => {
  test("is the operator's: newest first, page by page, with what was received", async () => {
    const put = (id: string, rail: RailId, second: number, content: string) =>
      createQuarantine(house.context).putAside(house.database, [
        { id, rail, content, reason: 'unmatched', receivedAt: new Date(Date.UTC(2083, 0, 1, 0, 0, second)) },
      ]);
    await put('qrt_1', 'rtp', 1, '<a>é</a>');
    await put('qrt_1', 'rtp', 9, 'the same id again changes nothing');
    await put('qrt_2', 'rtp', 2, '<kept>before</kept>');
    await put('quarantine_3', 'ach', 2, '101 nonsense');
    const ids = async (query: string) => {
      const { body } = await get(`/v1/admin/quarantine${query}`, admin);
      return { ids: body.data.map(({ id }: { id: string }) => id), next: body.next_cursor };
    };
    expect(await ids('')).toEqual({ ids: ['quarantine_3', 'qrt_2', 'qrt_1'], next: null });
    expect((await ids('?rail=rtp')).ids).toEqual(['qrt_2', 'qrt_1']);
    const first = await ids('?limit=2');
    expect(first.ids).toEqual(['quarantine_3', 'qrt_2']);
    expect(await ids(`?limit=2&cursor=${first.next}`)).toEqual({ ids: ['qrt_1'], next: null });
    expect((await get('/v1/admin/quarantine/qrt_1', admin)).body).toEqual({
      id: 'qrt_1',
      object: 'quarantined',
      rail: 'rtp',
      reason: 'unmatched',
      received_at: '2083-01-01T00:00:01.000Z',
      status: 'open',
      resolved_at: null,
      resolution: null,
      resolved_by: null,
      content: '<a>é</a>',
    });
    const contentOf = async (id: string) => (await get(`/v1/admin/quarantine/${id}`, admin)).body.content;
    expect(await contentOf('qrt_2')).toBe('<kept>before</kept>');
    expect(await contentOf('quarantine_3')).toBe('101 nonsense');
  });

  test('is closed to everybody else, and says where there is nothing', async () => {
    const other = { authorization: 'Bearer sk_test_sandbox' };
    for (const path of ['/v1/admin/quarantine', '/v1/admin/quarantine/qrt_1']) {
      expect((await get(path)).status).toBe(401);
      expect((await get(path, other)).status).toBe(403);
    }
    expect((await get('/v1/admin/quarantine/qrt_none', admin)).status).toBe(404);
    expect((await get('/v1/admin/quarantine?cursor=x', admin)).status).toBe(400);
    expect((await get('/v1/admin/quarantine?rail=wire', admin)).status).toBe(400);
  });
});

async function post(url: string, body: object, headers: Record<string, string> = {}) {
  const response = await app.inject({ method: 'POST', url, headers, payload: body });
  return { status: response.statusCode, body: response.json() };
}

/** A return that names a trace of nobody, put aside. */
async function strayReturn(amount: string): Promise<string> {
  const lines = [
    '5225PAYMENTS SANDBOX                    1110000000WEBPAYMENT         830302   1110000000000001',
    `626110000000TRTR01749117     ${amount}ntd9nqavgdxc57rTest Account          S 1110000000000002`,
    '799R02110000007777777      11000000                                            110000000000002',
  ];
  const id = `quarantine_${Math.random()}`;
  const item = {
    id,
    rail: 'ach',
    reason: 'no such entry',
    receivedAt: new Date(),
    content: lines.join('\n'),
  } as const;
  await house.context.quarantine.putAside(house.database, [item]);
  return id;
}

describe('working off what was put aside', () => {
  test('[P-5.15] it is applied to the payment that it belongs to, once', async () => {
    const other = await house.addTenant('org_aside');
    await house.moveClock(other, fromNewYork('2083-07-06', '09:00'));
    const id = await house.pay(other, { amount: 12_34 });
    await house.idle();
    await house.moveClock(other, fromNewYork('2083-07-06', '23:00'));
    const aside = await strayReturn('0000001234');
    const apply = (body: object) => post(`/v1/admin/quarantine/${aside}/apply`, body, admin);
    expect((await apply({ payment_id: 'pay_nothing' })).body).toMatchObject({
      status: 422,
      code: 'payment_not_found',
    });
    expect((await apply({ payment_id: id })).body).toMatchObject({
      ...{ status: 'applied', resolution: id, resolved_by: 'admin_token', resolved_at: expect.any(String) },
    });
    expect(await house.get(other, id)).toMatchObject({ status: 'failed', failure: { network_code: 'R02' } });
    expect((await apply({ payment_id: id })).status).toBe(409);
  });

  test('[P-5.15] one that does not fit, or whose payment never left, is refused and stays', async () => {
    const other = await house.addTenant('org_aside_2');
    await house.moveClock(other, fromNewYork('2083-07-06', '09:00'));
    const id = await house.pay(other, { amount: 12_34 });
    await house.idle();
    await house.moveClock(other, fromNewYork('2083-07-06', '23:00'));
    const aside = await strayReturn('0000009999');
    const never = await house.pay(other, { amount: 99_99 });
    const tooEarly = await post(`/v1/admin/quarantine/${aside}/apply`, { payment_id: never }, admin);
    expect(tooEarly.body).toMatchObject({ status: 422, code: 'quarantine_not_applicable' });
    expect((await house.get(other, never)).status).toBe('pending');
    const applied = await post(`/v1/admin/quarantine/${aside}/apply`, { payment_id: id }, admin);
    expect(applied.body).toMatchObject({ status: 422, code: 'quarantine_not_applicable' });
    expect((await house.get(other, id)).status).toBe('processing');
    const dismissed = await post(`/v1/admin/quarantine/${aside}/dismiss`, { reason: 'a test' }, admin);
    expect(dismissed.body).toMatchObject({
      ...{ status: 'dismissed', resolution: 'a test', resolved_by: 'admin_token' },
    });
    expect((await get('/v1/admin/quarantine?status=open', admin)).body.data).not.toContainEqual(
      expect.objectContaining({ id: aside }),
    );
  });
});

test('what was worked off goes after its time, what is open stays', async () => {
  const [open, done] = [await strayReturn('0000000001'), await strayReturn('0000000002')];
  await post(`/v1/admin/quarantine/${done}/dismiss`, { reason: 'a test' }, admin);
  const resolvedAt = new Date(
    (await get(`/v1/admin/quarantine/${done}`, admin)).body.resolved_at as string,
  ).getTime();
  const sweepAt = (days: number) =>
    createQuarantine({
      ...house.context,
      now: () => new Date(resolvedAt + days * 86_400_000 + 1),
    }).sweep(1);
  const status = async (id: string) => (await get(`/v1/admin/quarantine/${id}`, admin)).status;
  while ((await sweepAt(399)) > 0);
  expect(await status(done)).toBe(200);
  for (let turn = 0; turn < 10 && (await sweepAt(400)) > 0; turn += 1);
  expect([await status(open), await status(done)]).toEqual([200, 404]);
});

describe('files that the bank refuses', () => {
  async function sentFile(name: string) {
    const other = await house.addTenant(name);
    await house.moveClock(other, fromNewYork('2083-08-02', '09:00'));
    const id = await house.pay(other, { amount: 56_78 });
    await house.idle();
    await house.moveClock(other, fromNewYork('2083-08-02', '23:00'));
    const { rows } = await house.database.query<{ id: string }>('select id from ach_files where scope = $1', [
      other.id,
    ]);
    return { other, id, file: rows[0]?.id ?? '' };
  }

  test('are listed with their totals and states', async () => {
    const { file } = await sentFile('org_files_listed');
    const { body } = await get('/v1/admin/ach_files?status=sent&date=2083-08-02', admin);
    expect(body.data).toContainEqual(
      expect.objectContaining({ id: file, object: 'ach_file', mode: 'test', entries: 1, debit_total: 56_78 }),
    );
    expect((await get('/v1/admin/ach_files?date=2083-08-03', admin)).body.data).toEqual([]);
    expect((await get('/v1/admin/ach_files')).status).toBe(401);
  });

  test('[P-5.16] resend: its entries leave in the next file', async () => {
    const { other, id, file } = await sentFile('org_files_resent');
    const reject = (resend: boolean) =>
      post(`/v1/admin/ach_files/${file}/reject`, { reason: 'duplicate batch', resend }, admin);
    expect(await reject(true)).toMatchObject({ status: 200, body: { id: file, status: 'rejected' } });
    expect((await reject(true)).status).toBe(409);
    await house.moveClock(other, fromNewYork('2083-08-20', '12:00'));
    expect((await house.get(other, id)).status).toBe('completed');
    expect((await get('/v1/admin/ach_files?status=rejected', admin)).body.data).toContainEqual(
      expect.objectContaining({ id: file, rejection: 'duplicate batch' }),
    );
    expect((await house.check(other)).ok).toBe(true);
  });

  test('[P-5.16] no resend: its payments fail, and nobody was paid', async () => {
    const { other, id, file } = await sentFile('org_files_failed');
    await post(`/v1/admin/ach_files/${file}/reject`, { reason: 'unknown company', resend: false }, admin);
    expect(await house.get(other, id)).toMatchObject({ status: 'failed', failure: { code: 'file_refused' } });
    await house.moveClock(other, fromNewYork('2083-08-20', '12:00'));
    const rail = rails[0];
    const report = await reconcile(house.database, { day: '2083-08-02', rail, mode: 'test' });
    expect(report.differences.filter(({ paymentId }) => paymentId === id)).toEqual([]);
  });

  test('settled, or unknown: refused', async () => {
    const { other, file } = await sentFile('org_files_settled');
    await house.moveClock(other, fromNewYork('2083-08-20', '12:00'));
    const reject = (id: string) =>
      post(`/v1/admin/ach_files/${id}/reject`, { reason: 'late', resend: false }, admin);
    expect((await reject(file)).status).toBe(409);
    expect((await reject('ach_nothing')).status).toBe(404);
  });
});

describe('reconciliation', () => {
  test("is the operator's, and asks for a day", async () => {
    expect((await get(`/v1/admin/reconciliation?day=${DAY}`)).status).toBe(401);
    const other = { authorization: 'Bearer sk_test_sandbox' };
    expect((await get(`/v1/admin/reconciliation?day=${DAY}`, other)).status).toBe(403);
    expect((await get('/v1/admin/reconciliation?day=yesterday', admin)).status).toBe(400);
  });

  test('agrees where nothing is wrong', async () => {
    const { status, body } = await get(`/v1/admin/reconciliation?day=${DAY}`, admin);
    expect(status).toBe(200);
    expect(body.data.map(({ rail, mode, agrees }: Record<string, unknown>) => [rail, mode, agrees])).toEqual([
      ['ach', 'live', true],
      ['ach', 'test', true],
      ['rtp', 'live', true],
      ['rtp', 'test', true],
    ]);
    const sums = { debits: { count: 2, amount: 20_00 }, credits: { count: 0, amount: 0 } };
    expect(body.data[1]).toMatchObject({ ours: sums, network: sums, difference_count: 0 });
    expect(body.data[0].network).toBeNull();
  });

  test('lists every sort of difference', async () => {
    const { database } = house;
    const other = await house.addTenant('org_differs');
    const day = '2083-04-05';
    await house.moveClock(other, fromNewYork(day, '09:00'));
    const balance = await house.openBalance(other, 1_000_00);
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      ids.push(await house.pay(other, { sourceId: balance, amount: 1_00 + count }));
    }
    ids.push(await house.pay(other, { sourceId: 'pm_test_ach_late_return_r01' }));
    await house.idle();
    await house.moveClock(other, fromNewYork('2083-04-05', '22:30'));
    await house.force(other, ids[4] as string, 'settle', null);
    await house.moveClock(other, fromNewYork('2083-04-20', '12:00'));
    const traceOf = async (id: string | undefined) =>
      (await database.query<{ trace: string }>('select trace from ach_entries where payment_id = $1', [id]))
        .rows[0]?.trace;
    const mine = `mailbox = '${other.id}' and trace = $1`;
    await database.query(`delete from sandbox_ach_entries where ${mine}`, [await traceOf(ids[0])]);
    await database.query(`update sandbox_ach_entries set amount = 999 where ${mine}`, [
      await traceOf(ids[1]),
    ]);
    await database.query(`update sandbox_ach_entries set returned_at = now() where ${mine}`, [
      await traceOf(ids[2]),
    ]);
    await database.query(`update ach_entries set state = 'returned' where payment_id = $1`, [ids[3]]);
    await database.query(
      `insert into sandbox_ach_entries (mailbox, trace, day, direction, amount, reference, settles_at)
       values ($1, '110000009999999', $2, 'credit', 5, 'x', now())`,
      [other.id, day],
    );
    const report = await reconcile(database, { day, rail: rails[0], mode: 'test' });
    expect(report.agrees).toBe(false);
    expect(report.differences.map(({ kind, paymentId }) => [kind, paymentId]).sort()).toEqual(
      [
        ['missing_in_network', ids[0]],
        ['amount_differs', ids[1]],
        ['state_differs', ids[2]],
        ['state_differs', ids[3]],
        ['posted_but_not_settled', ids[3]],
        ['ended_by_order', ids[4]],
        ['paid_but_debit_returned', ids[5]],
        ['missing_here', null],
      ].sort(),
    );
    expect(report.differenceCount).toBe(8);
  });

  test('compares RTP transfer by transfer', async () => {
    const { database } = house;
    const day = '2083-06-01';
    const balance = await house.openBalance(tenant, 100_00);
    const id = await house.pay(tenant, { sourceId: balance, amount: 9_00 });
    const submit = (instruction: string, amount: number) =>
      database.query(
        `insert into rtp_submissions (tenant_id, instruction_id, payment_id, attempt_id, stored_message_id, message_id,
           amount, settlement_date, state, inquiries, resends)
         values ($1, $2, $3, 'att', 'msg', $2, $4, $5, 'accepted', 0, 0)`,
        [tenant.id, instruction, id, amount, day],
      );
    const book = (instruction: string, amount: number) =>
      database.query(
        `insert into sandbox_rtp_transfers (instruction_id, message_id, transaction_id, end_to_end_id,
           message_created_at, settlement_date, amount, instructing_agent, instructed_agent, debtor_agent,
           creditor_agent, accounts_mark, status, silent, received_at)
         values ($1, $1, $1, $1, '', $3, $2, '', '', '', '', '', 'ACTC', false, now())`,
        [instruction, amount, day],
      );
    await Promise.all([submit('both', 9_00), book('both', 9_00), submit('ours', 9_00), book('theirs', 5)]);
    await Promise.all([submit('amount', 9_00), book('amount', 8_99)]);
    const report = await reconcile(database, { day, rail: rails[1], mode: 'test' });
    expect(report.ours.credits).toEqual({ count: 3, amount: 27_00 });
    expect(report.network?.credits).toEqual({ count: 3, amount: 18_04 });
    expect(report.differences.map(({ kind, reference }) => [kind, reference])).toEqual([
      ['amount_differs', 'amount'],
      ['missing_in_network', 'ours'],
      ['missing_here', 'theirs'],
      // The payment went by ACH and is not completed, so none of these was posted.
      ['settled_but_not_posted', 'amount'],
      ['settled_but_not_posted', 'both'],
      ['settled_but_not_posted', 'ours'],
    ]);
  });

  test('[P-6.6] runs by itself and stores what differs: those that stand come first, page by page', async () => {
    const { database, alerts } = house;
    const deps = reconciling(() => fromNewYork('2083-04-06', '07:00'));
    const daily = createReconciliation(deps);
    const run = () => daily.handler.handle([], { signal: AbortSignal.timeout(20_000) });
    await run();
    await run();
    const { rows } = await database.query<{ rail: string; mode: string; agrees: boolean }>(
      `select rail, mode, agrees from reconciliations where day = '2083-04-05' order by rail, mode`,
    );
    expect(rows.map(({ rail, mode, agrees }) => [rail, mode, agrees])).toEqual([
      ['ach', 'live', true],
      ['ach', 'test', false],
      ['rtp', 'live', true],
      ['rtp', 'test', true],
    ]);
    expect(alerts.filter(({ message }) => message === 'books differ')).toMatchObject([
      { fields: { rail: 'ach', mode: 'test', day: '2083-04-05', firstSeen: 8 } },
    ]);
    await database.query(
      `update reconciliation_differences set resolved_at = now() where kind = 'missing_here'`,
    );
    const listed = await get('/v1/admin/reconciliation?limit=100', admin);
    expect(listed.body.data).toHaveLength(8);
    expect(listed.body.data.at(-1)).toMatchObject({
      object: 'reconciliation_difference',
      status: 'resolved',
      kind: 'missing_here',
      payment_id: null,
      resolved_at: expect.any(String),
    });
    const pages: unknown[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const { body } = await get(`/v1/admin/reconciliation?limit=3${next && `&cursor=${next}`}`, admin);
      pages.push(...body.data);
      next = body.next_cursor;
    }
    expect(pages).toEqual(listed.body.data);
    const statusesOf = async (status: string) =>
      (await get(`/v1/admin/reconciliation?status=${status}`, admin)).body.data.map(
        (one: { status: string }) => one.status,
      );
    expect(await statusesOf('open')).toEqual(Array(7).fill('open'));
    expect(await statusesOf('resolved')).toEqual(['resolved']);
    expect(await deps.metrics.metrics()).toContain(
      'payments_reconciliation_open_differences{rail="ach",mode="test",service="payments"} 7',
    );
  });

  test('a day is answered whole, without filters', async () => {
    const { status, body } = await get(`/v1/admin/reconciliation?day=${DAY}&status=open`, admin);
    expect([status, body.errors]).toEqual([400, [expect.objectContaining({ parameter: 'status' })]]);
  });
});
