// A day's reconciliation, and what the daily looks found, as the operator sees them over HTTP.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromNewYork } from '../clock/new-york.ts';
import type { House } from '../rails/ach/test/house.ts';
import {
  admin,
  type OperatedHouse,
  openOperatedHouse,
  reconciledRails,
  reconciling,
} from '../rails/test/operated-house.ts';
import type { Tenant } from '../tenant.ts';
import { reconcile } from './comparison.ts';
import { createReconciliation } from './service.ts';

const DAY = '2083-03-01';

let desk: OperatedHouse;
let house: House;
let tenant: Tenant;

const get = (...call: Parameters<OperatedHouse['get']>) => desk.get(...call);

beforeAll(async () => {
  desk = await openOperatedHouse();
  house = desk.house;
  tenant = await house.addTenant('org_reconciled');
  await house.moveClock(tenant, fromNewYork(DAY, '09:00'));
});
afterAll(() => desk.close());

describe('reconciliation', () => {
  test("is the operator's, and asks for a day", async () => {
    expect((await get(`/v1/admin/reconciliation?day=${DAY}`)).status).toBe(401);
    const other = { authorization: 'Bearer sk_test_sandbox' };
    expect((await get(`/v1/admin/reconciliation?day=${DAY}`, other)).status).toBe(403);
    expect((await get('/v1/admin/reconciliation?day=yesterday', admin)).status).toBe(400);
  });

  test('agrees where nothing is wrong', async () => {
    for (let count = 0; count < 2; count += 1) await house.pay(tenant);
    await house.idle();
    await house.moveClock(tenant, fromNewYork('2083-03-03', '09:00'));
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
    for (let count = 0; count < 6; count += 1) {
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
    await database.query(`update sandbox_ach_entries set direction = 'debit' where ${mine}`, [
      await traceOf(ids[5]),
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
    const report = await reconcile(database, { day, rail: reconciledRails[0], mode: 'test' });
    expect(report.agrees).toBe(false);
    expect(report.differences.map(({ kind, paymentId }) => [kind, paymentId]).sort()).toEqual(
      [
        ['missing_in_network', ids[0]],
        ['amount_differs', ids[1]],
        ['state_differs', ids[2]],
        ['state_differs', ids[3]],
        ['posted_but_not_settled', ids[3]],
        ['ended_by_order', ids[4]],
        ['amount_differs', ids[5]],
        ['paid_but_debit_returned', ids[6]],
        ['missing_here', null],
      ].sort(),
    );
    expect(report.differenceCount).toBe(9);
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
    const report = await reconcile(database, { day, rail: reconciledRails[1], mode: 'test' });
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
    const deps = reconciling(house, () => fromNewYork('2083-04-06', '07:00'));
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
      { fields: { rail: 'ach', mode: 'test', day: '2083-04-05', firstSeen: 9 } },
    ]);
    await database.query(
      `update reconciliation_differences set resolved_at = now() where kind = 'missing_here'`,
    );
    const listed = await get('/v1/admin/reconciliation?limit=100', admin);
    expect(listed.body.data).toHaveLength(9);
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
    expect(await statusesOf('open')).toEqual(Array(8).fill('open'));
    expect(await statusesOf('resolved')).toEqual(['resolved']);
    expect(await deps.metrics.metrics()).toContain(
      'payments_reconciliation_open_differences{rail="ach",mode="test",service="payments"} 8',
    );
  });

  test('a day is answered whole, without filters', async () => {
    const { status, body } = await get(`/v1/admin/reconciliation?day=${DAY}&status=open`, admin);
    expect([status, body.errors]).toEqual([400, [expect.objectContaining({ parameter: 'status' })]]);
  });
});
