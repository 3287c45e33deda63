// Accepting and processing on a real database, with a rail that settles at once: batches, keys, balances, crashes.
import { randomBytes } from 'node:crypto';
import type { Database } from '@libs/db';
import { createTestDatabase, somebodyWaits, type TestDatabase } from '@libs/db/testing';
import { enqueueJobs, startWorker, type Worker } from '@libs/jobs';
import { parseTraceparent, runInTrace } from '@libs/runtime';
import { createIdFactory, createSealer } from '@libs/seal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPayments, type Payments } from '../../app.ts';
import { loadConfig } from '../../config.ts';
import { checkLedger } from '../../ledger/proofs.ts';
import { lockForChange, recordTransfers } from '../../ledger/service.ts';
import { OUTSIDE_SOURCES } from '../../ledger/transfer.ts';
import { paymentsMigrations } from '../../migrations.ts';
import type { PaymentMethods } from '../../payment-methods/service.ts';
import { createBookRail } from '../../rails/book/rail.ts';
import { tenantOf } from '../../tenant.ts';
import { raiseVersion } from '../../tenant-version-store.ts';
import type { Processing } from '../processing.ts';
import type { PaymentsService } from '../service.ts';
import { stopRefundsHandler } from '../stop-refunds.ts';
import { SUBMIT_JOB } from '../submit-job.ts';
import type { AcceptRequest } from './draft.ts';
import { ACCEPT_PATH } from './path.ts';
import { instantRail } from './test/instant-rail.ts';

const tenant = tenantOf('org_test', 'test');
const other = tenantOf('org_other', 'test');
const now = () => new Date();
const newId = createIdFactory({ now, randomBytes });

let testDatabase: TestDatabase;
let database: Database;
let payments: PaymentsService;
let processing: Processing;
let methods: PaymentMethods;

const processes: Payments[] = [];

/** One process of the service, with a rail of its own; several on one database are several processes. */
async function createProcess(db: Database): Promise<Payments['parts']> {
  const started = await createPayments({
    config: loadConfig({ PAYMENTS_LOG_LEVEL: 'silent', PAYMENTS_ROLE: 'api' }),
    database: db,
    secrets: { sealer: createSealer({ keys: [Buffer.alloc(32, 7)] }), adminToken: 'admin' },
    rails: [instantRail, createBookRail()],
    app: { defaultMetrics: false },
  });
  processes.push(started);
  return started.parts;
}

function request(key: string, more: Partial<AcceptRequest['input']> = {}, owner = tenant): AcceptRequest {
  const input = {
    amount: 1_000,
    currency: 'usd',
    sourceId: 'pm_alice',
    destinationId: 'pm_bob',
    rail: 'auto' as const,
    prefer: 'balanced' as const,
    fallback: true,
    description: null,
    metadata: {},
    ...more,
  };
  return {
    tenant: owner,
    path: ACCEPT_PATH,
    key,
    canonicalBody: JSON.stringify(input),
    input,
    refundOf: null,
  };
}

/** A balance with test money in it. */
async function openFunded(amount: number, owner = tenant): Promise<string> {
  return database.transaction(async (tx) => {
    const { method } = await methods.create(tx, owner, { bank: null, metadata: {} });
    const fund = {
      fee: 0,
      kind: 'fund',
      paymentId: null,
      rail: null,
      debitAccount: OUTSIDE_SOURCES,
    } as const;
    await recordTransfers(tx, [
      { ...fund, tenantId: owner.id, id: newId('lt'), creditAccount: method.id, amount, createdAt: now() },
    ]);
    return method.id;
  });
}

async function balanceOf(id: string) {
  const { rows } = await database.query(
    'select posted, held, incoming, owed from ledger_balances where payment_method_id = $1',
    [id],
  );
  return rows[0];
}

async function withWorker(work: () => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  const worker: Worker = await startWorker({
    database,
    handlers: [processing.submitHandler, stopRefundsHandler({ database, processing })],
    now,
    onError: (error) => failures.push(error),
  });
  try {
    await work();
  } finally {
    await worker.drain();
  }
  expect(failures).toEqual([]);
}

beforeAll(async () => {
  testDatabase = await createTestDatabase(paymentsMigrations());
  database = testDatabase.database;
  const made = await createProcess(database);
  payments = made.payments.payments;
  processing = made.payments.processing;
  methods = made.methods.paymentMethods;
});
afterAll(async () => {
  for (const started of processes) await started.close();
  await testDatabase.drop();
});

describe('accepting', () => {
  test('[P-4.6] a hundred parallel posts of one key over two processes make one payment and a hundred equal bodies', async () => {
    const second = (await createProcess(database)).payments.payments;
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, n) => (n % 2 ? payments : second).create(request('same'))),
    );
    expect(new Set(responses.map((response) => response.body)).size).toBe(1);
    expect(responses.filter((response) => !response.replayed).length).toBe(1);
    const { rows } = await database.query('select count(*)::int as n from payments');
    expect(rows).toEqual([{ n: 1 }]);
  });

  test('[P-4.5] the same key with another body is refused, and independent in another organisation', async () => {
    await expect(payments.create(request('same', { amount: 2_000 }))).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    const foreign = await payments.create(request('same', { amount: 2_000 }, other));
    expect(foreign.replayed).toBe(false);
  });

  test('requests that each bring a trace are accepted together, by jobs that name the trace of each', async () => {
    const traceOf = (n: number) => `00-${String(n).padStart(32, '1')}-${'2'.repeat(16)}-01`;
    const bodies = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const create = () => payments.create(request(`traced-${n}`));
        return JSON.parse((await runInTrace(parseTraceparent(traceOf(n)), create)).body) as { id: string };
      }),
    );
    const { rows: jobs } = await database.query<{ traceparent: string }>(
      'select traceparent from jobs where traceparent is not null',
    );
    const carried = jobs.flatMap(({ traceparent }) => Object.entries(JSON.parse(traceparent)));
    expect(new Map(carried)).toEqual(new Map(bodies.map(({ id }, n) => [id, traceOf(n)])));
    const { rows } = await database.query<{ writes: number }>(
      'select count(distinct xmin::text)::int as writes from events where subject_id = any ($1)',
      [bodies.map(({ id }) => id)],
    );
    // The first may go alone, and the others while it is written.
    expect(rows[0]?.writes).toBeLessThanOrEqual(3);
    expect(jobs.length).toBe(rows[0]?.writes);
  });

  test('one bad request in a batch spoils no neighbour, and stores nothing', async () => {
    const results = await Promise.allSettled([
      payments.create(request('good 1')),
      payments.create(request('bad', { sourceId: 'nobody' })),
      payments.create(request('good 2')),
    ]);
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const again = await payments.create(request('bad'));
    expect(again.replayed).toBe(false);
  });

  test('a process that expects new keys finds one that was taken: its first response again, and its neighbours are accepted once', async () => {
    await payments.create(request('taken'));
    const fresh = (await createProcess(database)).payments.payments;
    const keys = ['new 1', 'taken', 'new 2', 'new 2'];
    const responses = await Promise.all(keys.map((key) => fresh.create(request(key))));
    expect(responses.map((response) => response.replayed).slice(0, 2)).toEqual([false, true]);
    expect(responses.filter((response) => response.replayed)).toHaveLength(2);
    const { rows } = await database.query(
      `select count(*)::int as n, count(distinct p.id)::int as payments from idempotency_keys k
       join events e on e.tenant_id = k.tenant_id and e.id = k.event_id
       join payments p on p.tenant_id = e.tenant_id and p.id = e.subject_id
       where k.tenant_id = $1 and k.key in ('new 1', 'taken', 'new 2')`,
      [tenant.id],
    );
    expect(rows).toEqual([{ n: 3, payments: 3 }]);
    const told = await database.query(
      `select subject_id from events where tenant_id = $1 group by subject_id having count(*) > 1`,
      [tenant.id],
    );
    expect(told.rows).toEqual([]);
  });

  test('a payment that ends in a deadlock is accepted after it', async () => {
    const balance = await openFunded(1_000);
    await raiseVersion(database, tenant.id);
    const [held, waits] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const contrary = database.transaction(async (tx) => {
      // Who waits longer looks first, and is given up.
      await tx.query(`set local deadlock_timeout = '1min'`);
      await raiseVersion(tx, tenant.id);
      held.resolve();
      await waits.promise;
      await lockForChange(tx, [{ tenantId: tenant.id, paymentMethodId: balance }]);
    });
    await held.promise;
    const accepted = payments.create(request('deadlock', { sourceId: balance }));
    await expect.poll(() => somebodyWaits(database), { timeout: 10_000 }).toBe(true);
    waits.resolve();
    expect((await accepted).status).toBe(202);
    await contrary;
  });

  test('two that name the same new methods at one moment, in either order, both have them', async () => {
    const made = (id: string) => {
      const method = methods.atFirstUse({ tenantId: tenant.id, id }, tenant, now());
      if (method === undefined) throw new Error(`${id} is no test account`);
      return method;
    };
    const [first, waits] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = database.transaction(async (tx) => {
      await methods.insert(tx, [made('pm_order_a')]);
      first.resolve();
      await waits.promise;
      await methods.insert(tx, [made('pm_order_z')]);
    });
    await first.promise;
    const quick = database.transaction((tx) => methods.insert(tx, ['pm_order_z', 'pm_order_a'].map(made)));
    await expect.poll(() => somebodyWaits(database), { timeout: 10_000 }).toBe(true);
    waits.resolve();
    await slow;
    expect(await quick).toEqual([]);
  });

  test('what another process has changed holds for the next payment: a method deleted, a clock set', async () => {
    const second = (await createProcess(database)).payments.payments;
    const account = await database.transaction(async (tx) => {
      const { method } = await methods.create(tx, tenant, { bank: null, metadata: {} });
      return method.id;
    });
    const toAccount = (key: string) => request(key, { sourceId: 'pm_alice', destinationId: account });
    await second.create(toAccount('before deletion'));
    await database.query('update payment_methods set deleted_at = now() where id = $1', [account]);
    await expect(second.create(toAccount('after deletion'))).rejects.toMatchObject({
      code: 'payment_method_not_found',
    });
    expect((await second.create(toAccount('before deletion'))).replayed).toBe(true);

    await database.query(
      `insert into organisations (id, name, created_at) values ($1, 'Test', now()) on conflict do nothing`,
      [tenant.organisationId],
    );
    await second.create(request('real time'));
    const frozen = '2030-01-02T03:04:05.000Z';
    await database.query('update organisations set clock_frozen_at = $2 where id = $1', [
      tenant.organisationId,
      frozen,
    ]);
    const { body } = await second.create(request('frozen time'));
    expect(JSON.parse(body)).toMatchObject({ created_at: frozen });
    await database.query('update organisations set clock_frozen_at = null where id = $1', [
      tenant.organisationId,
    ]);
  });

  test('a refusal by what was remembered is judged again by what is stored', async () => {
    const second = (await createProcess(database)).payments.payments;
    const { rows } = await database.query<{ id: string }>(
      `select id from payment_methods where tenant_id = $1 and type = 'bank_account' limit 1`,
      [tenant.id],
    );
    const id = rows[0]?.id as string;
    // Both are stored, so that nothing has to be read for the second payment.
    await second.create(request('stored before', { sourceId: id, destinationId: 'pm_carol' }));
    const send = (key: string) => second.create(request(key, { sourceId: id, destinationId: 'pm_carol' }));
    await database.query(`update payment_methods set deleted_at = now() where id = $1`, [id]);
    await expect(send('refused before')).rejects.toMatchObject({ code: 'payment_method_not_found' });
    await database.query(`update payment_methods set deleted_at = null where id = $1`, [id]);
    expect((await send('refused before')).replayed).toBe(false);
  });

  test('a balance that a reset has left behind does not lack money: the payment goes on as what test mode is now', async () => {
    const before = tenantOf('org_reset_beside', 'test');
    await database.query(`insert into organisations (id, name, created_at) values ($1, 'Reset', now())`, [
      before.organisationId,
    ]);
    // Both are stored, so that nothing has to be read for the second payment.
    const [source, destination] = [await openFunded(1, before), await openFunded(1, before)];
    const second = (await createProcess(database)).payments.payments;
    const send = (key: string) =>
      second.create(request(key, { sourceId: source, destinationId: destination }, before));
    await expect(send('poor')).rejects.toMatchObject({ code: 'insufficient_funds' });
    await database.query('update organisations set test_epoch = 1 where id = $1', [before.organisationId]);
    const { id } = JSON.parse((await send('after the reset')).body);
    const after = tenantOf(before.organisationId, 'test', 1);
    expect(await payments.get(after, id)).toMatchObject({ tenantId: after.id, sourceId: source });
  });

  test('a repeat takes nothing from the balance that the payments beside it need', async () => {
    const source = await openFunded(1_000);
    const first = { sourceId: source, amount: 300 };
    await payments.create(request('balance repeat', first));
    const fresh = (await createProcess(database)).payments.payments;
    const [again, twin, beside] = await Promise.all([
      fresh.create(request('balance repeat', first)),
      fresh.create(request('balance repeat', first)),
      fresh.create(request('balance beside', { sourceId: source, amount: 700 })),
    ]);
    expect([again.replayed, twin.replayed, beside.replayed]).toEqual([true, true, false]);
    const balance = await database.query('select held from ledger_balances where payment_method_id = $1', [
      source,
    ]);
    expect(balance.rows).toEqual([{ held: 1_000 }]);
  });

  test('a new key that comes twice at once takes its amount once, and what is left is for the payment beside it', async () => {
    const source = await openFunded(1_000);
    const twice = { sourceId: source, amount: 300 };
    const fresh = (await createProcess(database)).payments.payments;
    // The first leaves alone, and those that come meanwhile make the next batch.
    const responses = await Promise.all([
      fresh.create(request('ahead of the twins')),
      fresh.create(request('twins', twice)),
      fresh.create(request('twins', twice)),
      fresh.create(request('beside the twins', { sourceId: source, amount: 700 })),
    ]);
    expect(responses.map(({ replayed }) => replayed)).toEqual([false, false, true, false]);
    expect(await balanceOf(source)).toMatchObject({ posted: 1_000, held: 1_000 });
  });

  test('[P-4.28] a payment is not refused for one beside it that was not written after all', async () => {
    const source = await openFunded(1_000);
    const gone = await openFunded(1);
    const fresh = (await createProcess(database)).payments.payments;
    const from = (key: string, destinationId: string, amount: number) =>
      fresh.create(request(key, { sourceId: source, destinationId, amount }));
    // So that nothing has to be read for the next ones.
    await Promise.all([from('to one that stays', 'pm_bob', 1), from('to one that goes', gone, 1)]);
    const [held, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = database.transaction(async (tx) => {
      await lockForChange(tx, [{ tenantId: tenant.id, paymentMethodId: source }]);
      held.resolve();
      await goOn.promise;
    });
    await held.promise;
    // The first leaves alone, and those that come meanwhile make the next batch.
    const accepting = Promise.allSettled([
      fresh.create(request('ahead of the two')),
      from('first of the two', gone, 600),
      from('second of the two', 'pm_bob', 600),
    ]);
    await expect.poll(() => somebodyWaits(database), { timeout: 10_000 }).toBe(true);
    await database.query('update payment_methods set deleted_at = now() where id = $1', [gone]);
    goOn.resolve();
    await holding;
    const [, first, second] = await accepting;
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'payment_method_not_found' } });
    expect(second).toMatchObject({ status: 'fulfilled', value: { status: 202 } });
  });

  test('[P-4.32] a refund that the balance does not cover takes nothing from what is left to refund beside it', async () => {
    const balance = await openFunded(1);
    let id = '';
    await withWorker(async () => {
      id = JSON.parse((await payments.create(request('to be refunded', { destinationId: balance }))).body).id;
      await expect.poll(async () => (await payments.get(tenant, id)).status).toBe('completed');
    });
    await payments.create(request('spent before', { sourceId: balance, amount: 500 }));
    const refundOf = await payments.get(tenant, id);
    const fresh = (await createProcess(database)).payments.payments;
    const refund = (key: string, amount: number) =>
      fresh.create({
        ...request(key, { sourceId: balance, destinationId: 'pm_alice', amount }),
        ...{ path: `${ACCEPT_PATH}/${id}/refunds`, refundOf },
      });
    const [whole, half] = await Promise.allSettled([refund('whole', 1_000), refund('half', 500)]);
    expect(whole).toMatchObject({ status: 'rejected', reason: { code: 'insufficient_funds' } });
    expect(half).toMatchObject({ status: 'fulfilled', value: { status: 202 } });
  });

  test('[P-4.28] of a balance that a return left below zero nothing is available', async () => {
    const owner = tenantOf('org_below_zero', 'test');
    const source = await openFunded(500, owner);
    const taken = { fee: 0, kind: 'reverse', paymentId: 'pay_returned', rail: null, amount: 800 } as const;
    const place = { tenantId: owner.id, debitAccount: OUTSIDE_SOURCES, creditAccount: source };
    await database.transaction((tx) =>
      recordTransfers(tx, [{ ...taken, ...place, id: newId('lt'), createdAt: now() }]),
    );
    expect(await balanceOf(source)).toMatchObject({ posted: -300, owed: 300 });
    await expect(
      payments.create(request('from below zero', { sourceId: source, amount: 1 }, owner)),
    ).rejects.toMatchObject({ code: 'insufficient_funds', extra: { available: 0 } });
  });

  test('[P-4.28] a balance is never overdrawn, however many payments run in parallel over two processes', async () => {
    const source = await openFunded(10_000);
    const second = (await createProcess(database)).payments.payments;
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) =>
        (n % 2 ? payments : second).create(request(`drain ${n}`, { sourceId: source, amount: 700 })),
      ),
    );
    const accepted = results.filter((result) => result.status === 'fulfilled');
    expect(accepted.length).toBe(14);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'insufficient_funds' });
    }
    expect(await balanceOf(source)).toEqual({ posted: 10_000, held: 9_800, incoming: 0, owed: 0 });
  });
});

describe('processing', () => {
  test('what was accepted reaches its end, and the books prove it', async () => {
    const source = await openFunded(5_000);
    const target = await openFunded(1);
    const paid = JSON.parse((await payments.create(request('paid', { sourceId: source }))).body);
    const refused = JSON.parse(
      (await payments.create(request('refused', { sourceId: source, description: 'refuse me' }))).body,
    );
    const booked = JSON.parse(
      (await payments.create(request('booked', { sourceId: source, destinationId: target, prefer: 'cost' })))
        .body,
    );
    expect(booked.rail_selected).toBe('book');
    expect(booked.currency).toBe('usd');
    await withWorker(async () => {
      await expect.poll(async () => (await payments.get(tenant, booked.id)).status).toBe('completed');
      await expect.poll(async () => (await payments.get(tenant, paid.id)).status).toBe('completed');
      await expect.poll(async () => (await payments.get(tenant, refused.id)).status).toBe('failed');
    });
    expect(await balanceOf(source)).toEqual({ posted: 3_000, held: 0, incoming: 0, owed: 0 });
    expect(await balanceOf(target)).toEqual({ posted: 1_001, held: 0, incoming: 0, owed: 0 });
    const failed = await payments.get(tenant, refused.id);
    expect(failed.failure).toEqual({ code: 'account_closed', network_code: 'AC04', detail: 'Closed.' });
    expect(failed.timeline.map((entry) => entry.status)).toEqual(['pending', 'processing', 'failed']);
    const check = await checkLedger(database, tenant, now());
    expect(check.checks.filter((one) => !one.ok)).toEqual([]);
  });

  test('a late return takes a balance below zero and shows what is owed', async () => {
    const target = await openFunded(1);
    const spender = JSON.parse(
      (await payments.create(request('in', { destinationId: target, amount: 500 }))).body,
    );
    await withWorker(async () => {
      await expect.poll(async () => (await payments.get(tenant, spender.id)).status).toBe('completed');
      await payments.create(request('out', { sourceId: target, amount: 501 }));
      await expect.poll(async () => (await balanceOf(target))?.posted).toBe(0);
    });
    const paid = await payments.get(tenant, spender.id);
    await database.transaction((tx) =>
      processing.applyOutcomes(tx, [
        {
          tenantId: tenant.id,
          paymentId: paid.id,
          attemptId: paid.attempts[0]?.id ?? '',
          kind: 'returned',
          networkCode: 'R01',
          code: 'insufficient_funds',
          detail: 'x',
        },
      ]),
    );
    expect((await payments.get(tenant, paid.id)).status).toBe('returned');
    expect(await balanceOf(target)).toEqual({ posted: -500, held: 0, incoming: 0, owed: 500 });
    expect((await checkLedger(database, tenant, now())).ok).toBe(true);
    await expect(payments.create(request('more', { sourceId: target, amount: 1 }))).rejects.toMatchObject({
      code: 'insufficient_funds',
    });
  });

  test('a payment that cannot be submitted holds up none of those that were accepted with it', async () => {
    const accepted = await Promise.all(
      ['fine', 'break the batch', 'fine too'].map((description) =>
        payments.create(request(`together: ${description}`, { description }, other)),
      ),
    );
    const ids = accepted.map(({ body }) => JSON.parse(body).id as string);
    const failures: string[] = [];
    const worker = await startWorker({
      database,
      handlers: [{ ...processing.submitHandler, retryDelayMs: () => 1 }],
      now,
      onError: (error) => failures.push((error as Error).message),
    });
    const statuses = () => Promise.all(ids.map(async (id) => (await payments.get(other, id)).status));
    await expect.poll(statuses).toEqual(['completed', 'pending', 'completed']);
    await worker.drain();
    expect(new Set(failures)).toEqual(new Set(['broken']));
    // It is still there, to be tried when what is wrong was mended.
    const { rows } = await database.query<{ payload: unknown; failed_at: Date | null }>(
      'select payload, failed_at from jobs where name = $1',
      [SUBMIT_JOB],
    );
    expect(rows).toEqual([{ payload: [[other.id, ids[1]]], failed_at: null }]);
    await database.query('delete from jobs');
  });

  test('[P-3.2] a live payment does not wait behind test work', async () => {
    const live = tenantOf('org_test', 'live');
    const sourceId = await openFunded(5_000, live);
    const destinationId = await openFunded(1, live);
    const waiting = Array.from({ length: 5_000 }, (_, n) => ({
      name: SUBMIT_JOB,
      payload: [[tenant.id, `pay_gone_${n}`]],
    }));
    await enqueueJobs(database, database.schema, waiting);
    const { body } = await payments.create(request('live', { sourceId, destinationId }, live));
    const { id } = JSON.parse(body) as { id: string };
    await withWorker(async () => {
      const status = async () => (await payments.get(live, id)).status;
      await expect.poll(status, { interval: 5 }).toBe('completed');
      const { rows } = await database.query<{ n: number }>('select count(*)::int as n from jobs');
      expect(rows[0]?.n).toBeGreaterThan(2_500);
    });
    await database.query('delete from jobs');
  });

  test('[P-4.9] a pending payment can be canceled once, and a canceled one is never sent', async () => {
    const created = JSON.parse((await payments.create(request('to cancel', {}, other))).body);
    const canceled = await database.transaction((tx) => payments.cancel(tx, other, created.id));
    expect(canceled.status).toBe('canceled');
    await expect(database.transaction((tx) => payments.cancel(tx, other, created.id))).rejects.toMatchObject({
      code: 'payment_not_cancelable',
    });
    await withWorker(async () => {
      await expect.poll(async () => (await database.query('select 1 from jobs')).rowCount).toBe(0);
    });
    expect((await payments.get(other, created.id)).status).toBe('canceled');
  });
});

describe('the database', () => {
  test('[P-6.1] refuses every change and removal of a ledger row, and every move that is not in the table', async () => {
    await expect(database.query('update ledger_transfers set amount = 1')).rejects.toThrow(/append-only/);
    await expect(database.query('delete from ledger_transfers')).rejects.toThrow(/append-only/);
    await expect(database.query('truncate ledger_transfers')).rejects.toThrow(/append-only/);
    await expect(
      database.query(`update payments set status = 'pending' where status = 'completed'`),
    ).rejects.toThrow(/cannot go from/);
    await expect(
      database.query('update ledger_balances set held = posted + 1 where posted >= 0'),
    ).rejects.toThrow(/never_overdrawn/);
  });
});
