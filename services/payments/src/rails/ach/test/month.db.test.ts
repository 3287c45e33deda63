// Two months under a sandbox clock, with payments of every kind: Veterans Day, Thanksgiving, the end of summer time,
// Christmas, the year's end. At the end the operator's books, our entries and the ledger agree to the cent.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays, fromNewYork } from '../../../clock/new-york.ts';
import type { Payment } from '../../../payments/payment.ts';
import { reconcile } from '../../../reconciliation/comparison.ts';
import type { Tenant } from '../../../tenant.ts';
import { achBooks } from '../books/books.ts';
import { createHouse, type House, historyOf } from './house.ts';

const PAYMENTS_PER_MONTH = 150;
const SEED = 20_821_101;

const MONTHS = [
  { name: 'org_autumn', from: '2082-10-26', days: 36 },
  { name: 'org_winter', from: '2082-12-14', days: 33 },
];

let house: House;

beforeAll(async () => {
  house = await createHouse();
  await house.startWorking();
});
afterAll(() => house.close());

/** Mulberry32: the same numbers in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function pick<T>(random: () => number, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}

const SIDES = [
  'pm_ordinary_1',
  'pm_ordinary_2',
  'pm_ordinary_3',
  'pm_ordinary_4',
  'balance',
  'pm_test_ach_return_r01',
  'pm_test_ach_return_r03',
  'pm_test_ach_late_return_r02',
  'pm_test_ach_late_return_r10',
  'pm_test_ach_noc_c01',
  'pm_test_ach_noc_c07',
] as const;
type Side = (typeof SIDES)[number];

const SOMETIMES_CANCELED = 0.06;

/** What must become of a payment. */
function expectedHistory(source: Side, destination: Side, isCanceled: boolean): string {
  if (isCanceled) return 'pending > canceled';
  const is = (kind: string) => source.includes(kind) || destination.includes(kind);
  if (is('ach_return')) return 'pending > processing > failed';
  if (is('late_return')) return 'pending > processing > completed > returned';
  return 'pending > processing > completed';
}

interface Made {
  id: string;
  source: Side;
  destination: Side;
  isCanceled: boolean;
}

async function runMonth(
  tenant: Tenant,
  month: (typeof MONTHS)[number],
  random: () => number,
): Promise<Made[]> {
  const made: Made[] = [];
  await house.moveClock(tenant, fromNewYork(month.from, '00:00'));
  const balances: string[] = [];
  for (let count = 0; count < 3; count += 1) balances.push(await house.openBalance(tenant, 90_000_000_00));
  const perDay = Math.ceil(PAYMENTS_PER_MONTH / month.days);
  for (let day = 0; day < month.days; day += 1) {
    const date = addDays(month.from, day);
    const hours = ['03:17', '10:14', '10:15', '14:29', '16:31', '22:29', '23:40'].filter(
      () => random() < 0.3,
    );
    for (const hour of hours) {
      await house.setClock(tenant, fromNewYork(date, hour));
      const wave = Array.from({ length: Math.ceil((perDay / hours.length) * 2 * random()) }, async () => {
        const source = pick(random, SIDES);
        const destination = pick(
          random,
          SIDES.filter((side) => side !== source),
        );
        const isCanceled = random() < SOMETIMES_CANCELED;
        const id = await house.pay(tenant, {
          amount: 1 + Math.floor(random() * 2_000_000_00),
          sourceId: source === 'balance' ? pick(random, balances) : source,
          destinationId: destination === 'balance' ? pick(random, balances) : destination,
          prefer: pick(random, ['balanced', 'speed', 'cost'] as const),
          description: random() < 0.5 ? null : 'Rent – März',
        });
        made.push({ id, source, destination, isCanceled });
      });
      await Promise.all(wave);
      await house.idle();
      await cancelSome(tenant, made.slice(-wave.length));
    }
  }
  // Late returns come two banking days after settlement, and refunds travel after that.
  await house.moveClock(tenant, fromNewYork(addDays(month.from, month.days + 14), '12:00'));
  return made;
}

async function cancelSome(tenant: Tenant, wave: readonly Made[]): Promise<void> {
  for (const { id } of wave.filter(({ isCanceled }) => isCanceled)) await house.cancel(tenant, id);
}

test('every payment ends as it must, and the books agree to the cent', { timeout: 120_000 }, async () => {
  const random = randomFrom(SEED);
  const days = new Set<string>();
  const seen = new Set<string>();
  const exposures: Payment[] = [];
  for (const month of MONTHS) {
    const tenant = await house.addTenant(month.name);
    const made = await runMonth(tenant, month, random);
    expect(made.length).toBeGreaterThan(PAYMENTS_PER_MONTH * 0.6);
    for (const { id, source, destination, isCanceled } of made) {
      const payment = await house.get(tenant, id);
      const expected = expectedHistory(source, destination, isCanceled);
      expect(`${source} to ${destination}: ${historyOf(payment)}`).toBe(
        `${source} to ${destination}: ${expected}`,
      );
      seen.add(expected);
      // The destination was paid and the source took its money back: a loss that must be shown.
      const isLoss =
        source.includes('late_return') && !destination.includes('return') && destination !== 'balance';
      if (isLoss && !isCanceled) exposures.push(payment);
    }
    expect((await house.check(tenant)).checks.filter((check) => !check.ok)).toEqual([]);
    for (let day = 0; day < month.days + 15; day += 1) days.add(addDays(month.from, day));
  }
  expect(seen.size).toBe(4);
  expect(house.errors).toEqual([]);
  expect(house.alerts).toEqual([]);

  const losses = new Set<string>();
  let entries = 0;
  for (const day of days) {
    const report = await reconcile(house.database, {
      day,
      rail: { id: 'ach', books: achBooks },
      mode: 'test',
    });
    expect(report.network).toEqual(report.ours);
    expect(report.differences.filter(({ kind }) => kind !== 'paid_but_debit_returned')).toEqual([]);
    for (const { paymentId } of report.differences) if (paymentId) losses.add(paymentId);
    entries += report.ours.debits.count + report.ours.credits.count;
  }
  expect([...losses].sort()).toEqual(exposures.map(({ id }) => id).sort());
  await expectMoneyToAgree(exposures, entries);
});

/** The operator's net position against the ledger's, over everything: the same but for refunds, and what is owed are the losses. */
async function expectMoneyToAgree(exposures: readonly Payment[], entries: number): Promise<void> {
  const { rows: books } = await house.database.query<{ entries: number; collected: number; paid: number }>(
    `select count(*)::int as entries,
       sum(amount) filter (where direction = 'debit' and returned_at is null)::bigint as collected,
       sum(amount) filter (where direction = 'credit' and returned_at is null)::bigint as paid
     from sandbox_ach_entries`,
  );
  const { rows: ledger } = await house.database.query<{ collected: number; paid: number; owed: number }>(
    `with entries as (
       select kind, debit_account as account, -amount as amount from ledger_transfers
       union all select kind, credit_account, amount from ledger_transfers
     ), posted as (
       select account, case kind when 'reverse' then -amount else amount end as amount from entries
       where kind in ('post', 'reverse', 'owe', 'repay')
     )
     select -sum(amount) filter (where account = 'outside_sources')::bigint as collected,
       sum(amount) filter (where account = 'outside_destinations')::bigint as paid,
       -sum(amount) filter (where account like 'owed\\_%')::bigint as owed from posted`,
  );
  const { rows: refunds } = await house.database.query<{ amount: number }>(
    `select coalesce(sum(amount), 0)::bigint as amount from ach_entries where leg = 'refund' and state = 'settled'`,
  );
  const lost = exposures.reduce((sum, { amount }) => sum + amount, 0);
  const refunded = refunds[0]?.amount ?? 0;
  expect(refunded).toBeGreaterThan(0);
  expect(books[0]).toEqual({
    entries,
    collected: (ledger[0]?.collected ?? 0) + refunded,
    paid: (ledger[0]?.paid ?? 0) + refunded,
  });
  expect(ledger[0]?.owed).toBe(lost);
}
