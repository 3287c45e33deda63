import { expect } from 'vitest';
import { toNewYork } from '../../../clock/new-york.ts';
import { OUTSIDE_DESTINATIONS, OUTSIDE_SOURCES } from '../../../ledger/transfer.ts';
import type { Payment } from '../../../payments/payment.ts';
import { undoneRefunds } from '../../../payments/refund.ts';
import { openStatuses, type PaymentStatus, reachableFrom } from '../../../payments/states.ts';
import { reconcile } from '../../../reconciliation/comparison.ts';
import { achBooks } from '../books/books.ts';
import type { AchEntryState, AchLeg } from '../entries/entry.ts';
import type { House } from './house.ts';
import { Life, type Story } from './stories.ts';

/** What must hold of an organisation's money, whatever happened to its payments. */

/** What is known of one payment from three sides: its own, the ledger's, and the network's. */
interface Known {
  payment: Payment;
  legs: Partial<Record<AchLeg, AchEntryState>>;
  isUnderWay: boolean;
  /** By the network's books: what was taken from the source, what its destination has, and what was given back. */
  collected: number;
  paid: number;
  givenBack: number;
  /** By the ledger. */
  fromSources: number;
  toDestinations: number;
  owed: number;
  transfers: string[];
  events: string[];
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

interface NetworkRow {
  payment_id: string | null;
  leg: AchLeg | null;
  amount: number;
  trace: string;
}

/** What the network has and did not send back, by the payment that it is of. */
async function networkOf(house: House, { tenant }: Life): Promise<NetworkRow[]> {
  const { rows } = await house.database.query<NetworkRow>(
    `select e.payment_id, e.leg, n.amount, n.trace from sandbox_ach_entries n
     left join ach_entries e on e.scope = n.mailbox and e.trace = n.trace
     where n.mailbox = $1 and n.returned_at is null`,
    [tenant.id],
  );
  expect(rows.filter((row) => row.payment_id === null)).toEqual([]);
  return rows;
}

interface TransferRow {
  payment_id: string | null;
  kind: string;
  debit_account: string;
  credit_account: string;
  amount: number;
}

async function transfersOf(house: House, { tenant }: Life): Promise<TransferRow[]> {
  const { rows } = await house.database.query<TransferRow>(
    `select payment_id, kind, debit_account, credit_account, amount from ledger_transfers
     where tenant_id = $1 and kind <> 'fund' order by id`,
    [tenant.id],
  );
  return rows;
}

async function entriesOf(house: House, { tenant }: Life) {
  const { rows } = await house.database.query<{ payment_id: string; leg: AchLeg; state: AchEntryState }>(
    'select payment_id, leg, state from ach_entries where tenant_id = $1 order by due_at, attempt_id',
    [tenant.id],
  );
  return rows;
}

async function eventsOf(house: House, { tenant }: Life) {
  const { rows } = await house.database.query<{ subject_id: string; type: string }>(
    `select subject_id, type from events where tenant_id = $1 and type like 'payment.%' order by id`,
    [tenant.id],
  );
  return rows;
}

/** What an account has gained by transfers. */
function gainOf(account: string, transfers: readonly TransferRow[]): number {
  const moved = transfers.filter(({ kind }) => kind !== 'hold' && kind !== 'release');
  return sum(
    moved.map(({ kind, debit_account: debit, credit_account: credit, amount }) => {
      const gain = (credit === account ? amount : 0) - (debit === account ? amount : 0);
      return kind === 'reverse' ? -gain : gain;
    }),
  );
}

async function knownOf(house: House, life: Life): Promise<Known[]> {
  const [network, transfers] = [await networkOf(house, life), await transfersOf(house, life)];
  const [entries, events] = [await entriesOf(house, life), await eventsOf(house, life)];
  const payments = await Promise.all(life.paymentIds.map((id) => house.get(life.tenant, id)));
  return payments.map((payment): Known => {
    const { id, status } = payment;
    const at = (leg: AchLeg) =>
      sum(network.filter((row) => row.payment_id === id && row.leg === leg).map((row) => row.amount));
    const own = transfers.filter((transfer) => transfer.payment_id === id);
    const legs = entries.filter((entry) => entry.payment_id === id);
    return {
      payment,
      legs: Object.fromEntries(legs.map(({ leg, state }) => [leg, state])),
      isUnderWay:
        openStatuses.includes(status) || legs.some(({ state }) => state === 'queued' || state === 'sent'),
      collected: at('debit'),
      paid: at('credit'),
      givenBack: at('refund'),
      fromSources: 0 - gainOf(OUTSIDE_SOURCES, own),
      toDestinations: gainOf(OUTSIDE_DESTINATIONS, own),
      owed: 0 - gainOf(`owed_${payment.sourceId}`, own),
      transfers: own.map(({ kind }) => kind),
      events: events.filter((event) => event.subject_id === id).map(({ type }) => type),
    };
  });
}

/** Money that was taken and could not be handed on, and could not be given back either: a person has to see to it. */
function isStranded({ legs, collected, givenBack, paid }: Known): boolean {
  const isLost = legs.refund === 'returned' || legs.refund === 'refused' || legs.refund === 'canceled';
  return isLost && collected > 0 && givenBack === 0 && paid === 0;
}

/** The network, the ledger and what is owed agree on a payment of which nothing is under way. */
function expectMoneyToAgree(known: Known): void {
  const { payment, collected, paid, givenBack } = known;
  const kept = isStranded(known) ? collected : 0;
  const isFromOutside = payment.debitAccount === OUTSIDE_SOURCES;
  const isToOutside = payment.creditAccount === OUTSIDE_DESTINATIONS;
  const missing = isFromOutside && isToOutside ? Math.max(0, paid + givenBack - collected) : 0;
  expect({ known, owed: known.owed }).toEqual({ known, owed: missing });
  if (isFromOutside)
    expect({ known, taken: collected - givenBack - kept }).toEqual({ known, taken: known.fromSources });
  if (isToOutside) expect({ known, paid }).toEqual({ known, paid: known.toDestinations });
}

/** Who was told that a payment settled has ended it himself; but nobody is paid what is neither there nor owed. */
function expectNoLoss(known: Known): void {
  const { collected, paid, givenBack, owed, payment, toDestinations } = known;
  const there = payment.debitAccount === OUTSIDE_SOURCES ? collected + owed : toDestinations;
  expect({ known, loss: Math.max(0, paid + givenBack - there) }).toEqual({ known, loss: 0 });
}

function expectTimelineAndEvents({ payment, events, transfers }: Known): void {
  const times = payment.timeline.map(({ timestamp }) => timestamp);
  expect(times).toEqual(times.toSorted());
  const told = events.filter((type) => type !== 'payment.owed');
  expect(told).toEqual(payment.timeline.map(({ status }) => `payment.${status}`));
  const tellsOfDebt = events.includes('payment.owed') || events.includes('payment.returned');
  if (transfers.includes('owe')) expect(tellsOfDebt).toBe(true);
}

/** A refund whose source alone took its money back stands: whoever it was for has it. */
function isStanding({ payment, transfers, toDestinations }: Known): boolean {
  if (payment.status !== 'returned') return !(undoneRefunds as readonly string[]).includes(payment.status);
  return payment.creditAccount === OUTSIDE_DESTINATIONS ? toDestinations > 0 : !transfers.includes('reverse');
}

function expectRefunds(all: readonly Known[]): void {
  for (const { payment } of all) {
    const refunds = all.filter((known) => known.payment.refundOf === payment.id);
    const refunded = sum(refunds.filter(isStanding).map((refund) => refund.payment.amount));
    expect([payment.id, payment.refundedAmount]).toEqual([payment.id, refunded]);
    expect(refunded).toBeLessThanOrEqual(payment.amount);
  }
}

type Statuses = ReadonlyMap<string, PaymentStatus>;

/** Holds after each step; answers how payments stand, for the next look. */
async function expectSoundBooks(house: House, life: Life, before: Statuses): Promise<Statuses> {
  expect(house.errors).toEqual([]);
  const all = await knownOf(house, life);
  for (const known of all) {
    const { id, status } = known.payment;
    const earlier = before.get(id);
    if (earlier && earlier !== status) expect(reachableFrom(earlier)).toContain(status);
    expectTimelineAndEvents(known);
    if (known.isUnderWay || life.unclear.has(id)) continue;
    if (life.settledByOrder.has(id)) expectNoLoss(known);
    else expectMoneyToAgree(known);
  }
  expectRefunds(all);
  return new Map(all.map(({ payment: { id, status } }) => [id, status]));
}

/** Holds when nothing can happen any more: nothing is stuck, and the reconciliation lists what a person must see, and that alone. */
async function expectSoundEnd(house: House, life: Life): Promise<void> {
  // What was once wrong in the ledger stays wrong: nothing is ever changed there.
  expect((await house.check(life.tenant)).checks.filter((check) => !check.ok)).toEqual([]);
  const all = await knownOf(house, life);
  expect(all.filter(({ isUnderWay }) => isUnderWay)).toEqual([]);
  await expectGoodMoneyAlone(house, life);
  const listed = await differencesOf(house, life);
  const ordinary = all.filter(({ payment }) => !life.settledByOrder.has(payment.id));
  const expected = ordinary.flatMap((known): string[] => {
    const { id } = known.payment;
    if (known.owed > 0) return [`${known.paid > 0 ? 'paid' : 'refunded'}_but_debit_returned ${id}`];
    return isStranded(known) ? [`collected_but_not_refunded ${id}`] : [];
  });
  const byOrder = ({ paymentId }: { paymentId: string | null }) => life.settledByOrder.has(paymentId ?? '');
  const found = listed.filter((one) => !byOrder(one)).map(({ kind, paymentId }) => `${kind} ${paymentId}`);
  expect([...new Set(found)].sort(), JSON.stringify(all, null, 1)).toEqual(expected.sort());
}

async function differencesOf(house: House, { tenant }: Life) {
  const { rows } = await house.database.query<{ as_of: Date }>(
    'select distinct as_of from ach_files where scope = $1',
    [tenant.id],
  );
  const days = new Set(rows.map((row) => toNewYork(row.as_of).date));
  const rail = { id: 'ach', books: achBooks } as const;
  const reports = await Promise.all(
    [...days].map((day) => reconcile(house.database, { day, rail, mode: 'test' })),
  );
  return reports.flatMap(({ differences }) => differences);
}

/** Nothing hands on the money of a debit that is not good yet, or that is known to have come back. */
async function expectGoodMoneyAlone(house: House, { tenant, onceUnclear }: Life): Promise<void> {
  const { rows } = await house.database.query<{ payment_id: string }>(
    `select e.payment_id, e.leg, f.as_of, debit.good_at, n.returned_at
     from ach_entries e join ach_files f on f.id = e.file_id
     join ach_entries debit on debit.attempt_id = e.attempt_id and debit.leg = 'debit'
     join sandbox_ach_entries n on n.mailbox = debit.scope and n.trace = debit.trace
     where e.scope = $1 and e.leg <> 'debit' and (f.as_of < debit.good_at or f.as_of > n.returned_at)`,
    [tenant.id],
  );
  expect(rows.filter((row) => !onceUnclear.has(row.payment_id))).toEqual([]);
}

/** Takes a story's files and entries out of the books, which are compared by the day and not by the organisation. */
async function forget(house: House, { tenant }: Life): Promise<void> {
  await house.database.query('delete from ach_entries where scope = $1', [tenant.id]);
  await house.database.query('delete from ach_files where scope = $1', [tenant.id]);
  await house.database.query('delete from sandbox_ach_entries where mailbox = $1', [tenant.id]);
}

const LONG_AFTER_HOURS = 30 * 24;

/** Lets an organisation live through a story, and looks at its books after each step and long after the last. */
export async function liveThrough(
  house: House,
  name: string,
  { representments, steps }: Story,
): Promise<void> {
  house.context.representmentsWanted = representments;
  house.errors.length = 0;
  const life = await Life.begin(house, name);
  try {
    let statuses: Statuses = new Map();
    for (const step of steps) {
      await life.take(step);
      statuses = await expectSoundBooks(house, life, statuses);
    }
    await life.applyAsides();
    await life.wait(LONG_AFTER_HOURS);
    await expectSoundBooks(house, life, statuses);
    await expectSoundEnd(house, life);
  } finally {
    await forget(house, life);
  }
}
