// What the books of a day count and where they find a difference, by the states of entries planted in the tables.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays, fromNewYork } from '../../../clock/new-york.ts';
import type { DayQuery } from '../../../reconciliation/reconciliation.ts';
import type { Mode, Tenant } from '../../../tenant.ts';
import type { AchEntryState, AchLeg } from '../entries/entry.ts';
import { createHouse, type House } from '../test/house.ts';
import { achBooks } from './books.ts';
import { achEntryDifferences, achPaymentDifferences } from './books-store.ts';

let house: House;

beforeAll(async () => {
  house = await createHouse();
});
afterAll(() => house.close());

function queryOf(day: string, mode: Mode = 'test'): DayQuery {
  return { mode, day, from: fromNewYork(day, '00:00'), to: fromNewYork(addDays(day, 1), '00:00') };
}

let organisations = 0;
/** Payments of a new organisation whose debits have left on that day; nobody works on what is planted afterwards. */
async function sentOn(day: string, amounts: readonly number[]): Promise<{ tenant: Tenant; ids: string[] }> {
  organisations += 1;
  const tenant = await house.addTenant(`org_books_${organisations}`);
  const worker = await house.startWorking();
  await house.moveClock(tenant, fromNewYork(day, '09:00'));
  const ids: string[] = [];
  for (const amount of amounts) ids.push(await house.pay(tenant, { amount }));
  await house.idle();
  await house.moveClock(tenant, fromNewYork(day, '23:00'));
  await worker.drain();
  return { tenant, ids };
}

type LegStates = Partial<Record<AchLeg, AchEntryState>>;

async function plant(id: string, legs: LegStates): Promise<void> {
  const unsent = { trace: null, rdfi: null, file_id: null, message_id: null };
  for (const [leg, state] of Object.entries(legs)) {
    const hasLeft = state !== 'queued' && state !== 'canceled';
    await house.database.query(
      leg === 'debit'
        ? `update ach_entries set state = $2::jsonb ->> 'state' where payment_id = $1 and leg = 'debit'`
        : `insert into ach_entries select (jsonb_populate_record(e, $2)).* from ach_entries e
           where payment_id = $1 and leg = 'debit'`,
      [
        id,
        JSON.stringify({
          leg,
          state,
          return_code: state === 'returned' ? 'R02' : null,
          ...(hasLeft ? {} : unsent),
        }),
      ],
    );
  }
}

const HANGING: readonly [LegStates, string | null][] = [
  [{ debit: 'sent' }, null],
  [{ debit: 'returned', refund: 'canceled' }, null],
  [{ debit: 'returned', refund: 'sent' }, 'refunded_but_debit_returned'],
  [{ debit: 'returned', refund: 'settled' }, 'refunded_but_debit_returned'],
  [{ debit: 'returned', credit: 'settled' }, 'paid_but_debit_returned'],
  [{ debit: 'settled', credit: 'queued' }, null],
  [{ debit: 'settled', credit: 'settled' }, 'settled_but_not_posted'],
  [{ debit: 'settled', credit: 'returned' }, 'collected_but_not_refunded'],
  [{ debit: 'settled', credit: 'refused' }, 'collected_but_not_refunded'],
  [{ debit: 'settled', credit: 'canceled' }, 'collected_but_not_refunded'],
  [{ debit: 'settled', credit: 'returned', refund: 'queued' }, null],
  [{ debit: 'settled', credit: 'returned', refund: 'settled' }, null],
  [{ debit: 'settled', credit: 'returned', refund: 'returned' }, 'collected_but_not_refunded'],
  [{ debit: 'settled', credit: 'returned', refund: 'refused' }, 'collected_but_not_refunded'],
  [{ debit: 'settled', credit: 'returned', refund: 'canceled' }, 'collected_but_not_refunded'],
  [{ debit: 'overruled' }, 'ended_by_order'],
];

test('money that hangs between two legs is a difference, money that is on its way is none', async () => {
  const { ids } = await sentOn('2083-03-01', Array(HANGING.length).fill(10_00));
  for (const [index, [legs]] of HANGING.entries()) await plant(ids[index] as string, legs);
  const { differences } = await achPaymentDifferences(house.database, queryOf('2083-03-01'), 100);
  const kinds = new Map(differences.map(({ paymentId, kind }) => [paymentId, kind]));
  expect(HANGING.map(([legs], index) => [legs, kinds.get(ids[index] as string) ?? null])).toEqual(HANGING);
});

test('entries are those of files that the bank has and took', async () => {
  const { tenant } = await sentOn('2083-03-02', [10_00]);
  const { database } = house;
  const counts = async (mode: Mode) =>
    (await achBooks.totals(database, queryOf('2083-03-02', mode))).ours.debits.count;
  const inFile = (change: string) =>
    database.query(`update ach_files set ${change} where scope = $1`, [tenant.id]);
  expect([await counts('test'), await counts('live')]).toEqual([1, 0]);
  await inFile(`refusal = 'a test'`);
  expect(await counts('test')).toBe(0);
  await inFile('refusal = null, sent_at = null');
  expect(await counts('test')).toBe(0);
});

test('the same trace of another sandbox is another entry', async () => {
  await sentOn('2083-03-03', [10_00]);
  await sentOn('2083-03-03', [20_00]);
  const { rows } = await house.database.query<{ traces: number }>(
    `select count(distinct trace)::int as traces from sandbox_ach_entries where day = '2083-03-03'`,
  );
  expect(rows).toEqual([{ traces: 1 }]);
  const { differences } = await achEntryDifferences(house.database, queryOf('2083-03-03'), 100);
  expect(differences).toEqual([]);
});

test('a live day waits for what is under way, a sandbox’s for nothing: its clock may stand still for ever', async () => {
  const { tenant, ids } = await sentOn('2083-03-04', [10_00]);
  const { database } = house;
  const isUnfinished = (mode: Mode) => achBooks.isUnfinished(database, queryOf('2083-03-04', mode));
  expect([await isUnfinished('test'), await isUnfinished('live')]).toEqual([false, false]);
  await database.query(`update ach_files set scope = 'live' where scope = $1`, [tenant.id]);
  expect(await isUnfinished('live')).toBe(true);
  await plant(ids[0] as string, { debit: 'settled' });
  expect(await isUnfinished('live')).toBe(false);
});
