import type { Database } from '@libs/db';
import { RETURN_REASONS } from '../../services/payments/src/rails/ach/codes/codes.ts';
import type { Difference } from '../../services/payments/src/reconciliation/reconciliation.ts';
import { type Order, pick } from './orders.ts';

/*
 * Banks that send entries back: with every code there is, and some that nobody knows, of either side, before the credit
 * leaves, while it is under way, and after it has settled. What a payment must come to follows from the moment at which
 * the file really lay there.
 */

const MOMENTS = ['before_credit', 'credit_under_way', 'after'] as const;
type Moment = (typeof MOMENTS)[number];

/** One return that must happen in the months. */
export interface Wish {
  leg: 'debit' | 'credit';
  moment: Moment;
  code: string;
}

export function describeWish({ code, leg, moment }: Wish): string {
  return `${code} of the ${leg}, ${moment}`;
}

/** What must become of a payment; a bank may change it while the payment is under way. */
export interface Expected {
  history: string;
  /** How the reconciliation must show that money was paid out which the source took back. */
  loss: Difference['kind'] | null;
}

const UNKNOWN_CODES = ['R98', 'X1'];
/** Answers between banks, which answer nothing that we sent: they are put aside. */
const BETWEEN_BANKS = /^R[67]\d$/;
const SOON = 0.6;

export function everyReturn(): Wish[] {
  const codes = [...RETURN_REASONS.keys(), ...UNKNOWN_CODES];
  return codes.flatMap((code) => [
    ...MOMENTS.map((moment): Wish => ({ leg: 'debit', moment, code })),
    ...MOMENTS.slice(1).map((moment): Wish => ({ leg: 'credit', moment, code })),
  ]);
}

/** Between ordinary accounts, and sometimes a balance on the side that does not matter. */
export function orderFor({ leg, moment }: Wish, random: () => number): Order {
  const withBalance = random() < 0.2 && moment !== 'credit_under_way';
  return {
    ...{ rail: 'ach', prefer: 'cost', description: null, isCanceled: false },
    amount: 1 + Math.floor(random() * 20_000_00),
    source: withBalance && leg === 'credit' ? 'balance' : pick(random, ['pm_ordinary_1', 'pm_ordinary_2']),
    destination:
      withBalance && leg === 'debit' ? 'balance' : pick(random, ['pm_ordinary_3', 'pm_ordinary_4']),
  };
}

interface Planned {
  wish: Wish;
  order: Order;
  expected: Expected;
}

interface EntryRow {
  payment_id: string;
  status: string;
  leg: string;
  state: string;
  amount: number;
  presentment: number;
  trace: string | null;
  rdfi: string | null;
}

export interface ReturningBank {
  plan(id: string, planned: Planned): void;
  /** Puts a file with what it sends back now into the outbox; at the end with all that is left. */
  act(clock: Date, random: () => number, options: { isEnd: boolean }): Promise<void>;
  /** Payments whose return is still to come. */
  readonly waiting: number;
  /** How many of its answers must be put aside. */
  readonly planted: number;
  /** Those that happened as they were wished. */
  readonly done: readonly Wish[];
}

/** `again` takes wishes whose moment was missed: another payment gets them. */
export function createReturningBank(
  database: Database,
  mailbox: string,
  again: (wish: Wish) => void,
): ReturningBank {
  const waiting = new Map<string, Planned>();
  const done: Wish[] = [];
  let planted = 0;
  let files = 0;

  async function sendBack(ready: readonly Ready[], clock: Date): Promise<void> {
    const answered = ready.filter(({ planned }) => !BETWEEN_BANKS.test(planned.wish.code));
    planted += ready.length - answered.length;
    await database.query(
      `update sandbox_ach_entries e set returned_at = $2, return_code = r.code
       from unnest($3::text[], $4::text[]) as r (trace, code)
       where e.mailbox = $1 and e.trace = r.trace and e.returned_at is null`,
      [
        mailbox,
        clock,
        answered.map(({ entry }) => entry.trace),
        answered.map(({ planned }) => planned.wish.code),
      ],
    );
    files += 1;
    await deliver(database, mailbox, {
      name: `bank-${String(files).padStart(6, '0')}.ach`,
      lines: ready.map(({ entry, planned }) => returnLines({ ...entry, code: planned.wish.code })),
      at: clock,
    });
  }

  return {
    done,
    get waiting() {
      return waiting.size;
    },
    get planted() {
      return planted;
    },
    plan: (id, planned) => void waiting.set(id, planned),
    async act(clock, random, { isEnd }) {
      if (waiting.size === 0) return;
      const { rows } = await database.query<EntryRow>(
        `select e.payment_id, p.status, e.leg, e.state, e.amount, e.presentment, e.trace, e.rdfi
         from payments p join ach_entries e on e.tenant_id = p.tenant_id and e.payment_id = p.id
         where p.tenant_id = $1 and p.id = any($2) order by e.payment_id, e.attempt_id, e.due_at`,
        [mailbox, [...waiting.keys()]],
      );
      const ready: Ready[] = [];
      for (const [id, entries] of Map.groupBy(rows, (row) => row.payment_id)) {
        const planned = waiting.get(id);
        if (!planned) continue;
        const moment = momentOf(entries);
        if (moment === 'over') {
          waiting.delete(id);
          again(planned.wish);
          continue;
        }
        const entry = entries.findLast(({ leg }) => leg === planned.wish.leg);
        const isDue = isEnd || (moment !== null && reached(planned.wish.moment, moment) && random() < SOON);
        if (moment === null || !isDue || !entry?.trace || !['sent', 'settled'].includes(entry.state))
          continue;
        waiting.delete(id);
        ready.push({ entry: { ...entry, trace: entry.trace }, planned });
        if (moment === planned.wish.moment) done.push(planned.wish);
        else again(planned.wish);
        if (!BETWEEN_BANKS.test(planned.wish.code))
          Object.assign(planned.expected, endOf(planned, moment, entry));
      }
      if (ready.length > 0) await sendBack(ready, clock);
    },
  };
}

interface Ready {
  entry: EntryRow & { trace: string };
  planned: Planned;
}

/** Null while nothing has left. */
function momentOf(entries: readonly EntryRow[]): Moment | 'over' | null {
  const last = entries.at(-1);
  const status = last?.status ?? '';
  if (['failed', 'canceled', 'returned'].includes(status)) return 'over';
  if (status === 'completed') return 'after';
  if (last?.leg === 'credit' && last.state === 'sent') return 'credit_under_way';
  return entries.some(({ state }) => state === 'sent' || state === 'settled') ? 'before_credit' : null;
}

function reached(wished: Moment, now: Moment): boolean {
  return MOMENTS.indexOf(now) >= MOMENTS.indexOf(wished);
}

function endOf({ wish, order }: Planned, moment: Moment, { presentment }: EntryRow): Expected {
  const returned = 'pending > processing > completed > returned';
  if (wish.leg === 'credit') {
    const history = moment === 'after' ? returned : 'pending > processing > failed';
    return { history, loss: null };
  }
  if (moment === 'before_credit') {
    const isPresentedAgain = RETURN_REASONS.get(wish.code)?.representable === true && presentment < 2;
    return { history: `pending > processing > ${isPresentedAgain ? 'completed' : 'failed'}`, loss: null };
  }
  return { history: returned, loss: order.destination === 'balance' ? null : 'paid_but_debit_returned' };
}

interface ReturnedLine {
  leg: string;
  amount: number;
  trace: string;
  rdfi: string | null;
  code: string;
}

/** A return as banks write it, with no more than what matters. */
export function returnLines({ leg, amount, trace, rdfi, code }: ReturnedLine): string {
  const transactionCode = leg === 'debit' ? '26' : '21';
  const entry = `6${transactionCode}${rdfi ?? ''}0${'12345'.padEnd(17)}${String(amount).padStart(10, '0')}`;
  return [
    `${entry}${''.padEnd(15)}${'SOMEBODY'.padEnd(22)}  1${trace}`,
    `799${code.padEnd(3)}${trace}      ${rdfi ?? ''}${''.padEnd(44)}${trace}`,
  ].join('\n');
}

/** Puts a file where the operator puts its own. */
export async function deliver(
  database: Database,
  mailbox: string,
  { name, lines, at }: { name: string; lines: readonly string[]; at: Date },
): Promise<void> {
  const header =
    '5200SOME BANK                           1999999999WEBPAYMENT         830302   1110000000000001';
  await database.query(
    'insert into sandbox_ach_outbox (mailbox, name, content, created_at) values ($1, $2, $3, $4)',
    [mailbox, name, [header, ...lines].join('\n'), at],
  );
}
