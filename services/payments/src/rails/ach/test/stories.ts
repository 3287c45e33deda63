import { AppError } from '@libs/runtime';
import fc from 'fast-check';
import { expect } from 'vitest';
import { fromNewYork } from '../../../clock/new-york.ts';
import type { PaymentInput } from '../../../payments/accept/draft.ts';
import type { Tenant } from '../../../tenant.ts';
import type { ForcedOutcome } from '../../rail.ts';
import { findEntriesOf } from '../entries/entries-store.ts';
import { type AchEntry, type AchLeg, isOut } from '../entries/entry.ts';
import { applyTo, sendBackAgain, sendBackGarbled } from './asides.ts';
import type { House } from './house.ts';
import { sendBack, sendBackTogether } from './sending-back.ts';

/** Everything that can happen to payments by ACH and around them, as stories that are drawn by chance. */

type Order = Pick<PaymentInput, 'sourceId' | 'destinationId' | 'amount' | 'prefer'>;

/** What is counted begins anew after its last: payments, files that were taken, entries that are at a bank. */
export type Step =
  | { does: 'wait'; hours: number }
  | { does: 'wait for what is next'; minutesAfter: number }
  | ({ does: 'pay' } & Order)
  | { does: 'send back'; entry: number; code: string }
  | { does: 'send back together'; payment: number; legs: readonly AchLeg[]; code: string }
  | { does: 'send back again'; payment: number; leg: AchLeg; code: string }
  | { does: 'send back garbled'; entry: number; code: string }
  | { does: 'apply what was put aside' }
  | { does: 'reject a file'; file: number; resend: boolean }
  | { does: 'force'; payment: number; outcome: ForcedOutcome; code: string | null }
  | { does: 'cancel'; payment: number }
  | { does: 'refund'; payment: number; amounts: readonly (number | null)[] }
  | { does: 'at once'; steps: readonly Step[] };

export interface Story {
  representments: number;
  steps: readonly Step[];
}

/** The names of the two balances of a story. */
const BALANCES = ['first balance', 'second balance'] as const;
const OPENING_BALANCE = 20_00;
const START = fromNewYork('2083-03-01', '09:00');
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

const amount = fc.constantFrom(1_00, 5_00, 20_00);
const payment = fc.nat({ max: 3 });
const code = fc.constantFrom('R01', 'R10', 'R03');
const step = <Does extends Step['does'], Rest extends object>(does: Does, rest: fc.Arbitrary<Rest>) =>
  rest.map((more) => ({ does, ...more }));

const pay = step(
  'pay',
  fc.record({
    sourceId: fc.constantFrom(
      ...['pm_alice', 'pm_alice', 'pm_alice', 'pm_alice', ...BALANCES],
      ...['pm_test_ach_return_once_r01', 'pm_test_ach_return_r01', 'pm_test_ach_late_return_r10'],
    ),
    destinationId: fc.constantFrom(
      ...['pm_bob', 'pm_bob', 'pm_bob', ...BALANCES],
      // Those whose credit comes back have a refund.
      ...['pm_test_ach_return_r03', 'pm_test_ach_return_r03', 'pm_test_ach_late_return_r02'],
    ),
    amount,
    prefer: fc.constantFrom('cost' as const, 'cost' as const, 'speed' as const),
  }),
);

/** Until a debit has left, is under way, is good, its credit has left, has settled, its refund has left, has settled. */
const stage = step('wait', fc.record({ hours: fc.constantFrom(1, 14, 40, 75, 86, 86, 99, 110, 110, 171) }));
const wait = step('wait', fc.record({ hours: fc.constantFrom(1, 14, 24, 72) }));
const waitForNext = step(
  'wait for what is next',
  fc.record({ minutesAfter: fc.constantFrom(-1, 0, 0, 0, 30) }),
);

const back = fc.record({ entry: fc.nat({ max: 3 }), code });
const leg = fc.constantFrom<AchLeg>('debit', 'credit', 'refund');
const backAgain = fc.record({ payment, leg, code });
const legs = fc.shuffledSubarray<AchLeg>(['debit', 'credit', 'refund'], { minLength: 2 });
const together = fc.record({ payment, legs, code });
const rejection = fc.record({ file: fc.nat({ max: 1 }), resend: fc.boolean() });
const cancel = fc.record({ payment });
const forced = fc
  .record({
    payment,
    outcome: fc.constantFrom<ForcedOutcome>('settle', 'settle', 'reject', 'return', 'notify_of_change'),
  })
  .map((order) => ({ ...order, code: order.outcome === 'return' ? 'R03' : null }));
const refund = fc.record({
  payment,
  amounts: fc.array(fc.option(fc.constantFrom(1, 50, 1_00)), { minLength: 1, maxLength: 3 }),
});

/** What other people and machines may do at the same moment. */
const atOnce = step(
  'at once',
  fc.record({
    steps: fc.array(
      fc.oneof<fc.Arbitrary<Step>[]>(
        ...[step('send back', back), step('send back', back), step('reject a file', rejection)],
        ...[step('force', forced), step('refund', refund), step('refund', refund)],
        ...[step('cancel', cancel), waitForNext],
      ),
      { minLength: 2, maxLength: 3 },
    ),
  }),
);

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: wait },
  { weight: 4, arbitrary: waitForNext },
  { weight: 1, arbitrary: pay },
  { weight: 6, arbitrary: step('send back', back) },
  { weight: 2, arbitrary: step('send back together', together) },
  { weight: 1, arbitrary: step('send back again', backAgain) },
  { weight: 1, arbitrary: step('send back garbled', back) },
  { weight: 4, arbitrary: atOnce },
  { weight: 1, arbitrary: fc.constant({ does: 'apply what was put aside' as const }) },
  { weight: 6, arbitrary: step('reject a file', rejection) },
  { weight: 2, arbitrary: step('force', forced) },
  { weight: 1, arbitrary: step('cancel', cancel) },
  { weight: 1, arbitrary: step('refund', refund) },
);

/** Payments come to some stage of their life, and then things happen. */
export const anyStory: fc.Arbitrary<Story> = fc
  .record({
    representments: fc.constantFrom(0, 2),
    first: fc.array(pay, { minLength: 1, maxLength: 2 }),
    stage,
    others: fc.array(anyStep, { minLength: 2, maxLength: 6 }),
  })
  .map(({ representments, first, stage: reached, others }) => ({
    representments,
    steps: [...first, reached, ...others],
  }));

/** An answer that a person has to look at, and the payment that it belongs to. */
interface PutAside {
  id: string;
  content: string;
}

/** One organisation that lives through a story. */
export class Life {
  readonly tenant: Tenant;
  /** In the order in which they were accepted, refunds among them. */
  readonly paymentIds: string[] = [];
  /** Those of which the sandbox was told that they settle, whatever the network does. */
  readonly settledByOrder = new Set<string>();
  /** Those whose bank said something that was put aside for a while. */
  readonly onceUnclear = new Set<string>();
  readonly #house: House;
  readonly #balances: ReadonlyMap<string, string>;
  #asides: PutAside[] = [];
  #now = START;

  private constructor(house: House, tenant: Tenant, balances: ReadonlyMap<string, string>) {
    this.#house = house;
    this.tenant = tenant;
    this.#balances = balances;
  }

  static async begin(house: House, name: string): Promise<Life> {
    const tenant = await house.addTenant(name);
    await house.moveClock(tenant, START);
    const balances = new Map<string, string>();
    for (const balance of BALANCES) balances.set(balance, await house.openBalance(tenant, OPENING_BALANCE));
    return new Life(house, tenant, balances);
  }

  /** Payments whose bank said something that nobody has applied yet. */
  get unclear(): ReadonlySet<string> {
    return new Set(this.#asides.map(({ id }) => id));
  }

  async take(step: Step): Promise<void> {
    await this.#perform(step);
    await this.#house.idle();
  }

  async wait(hours: number): Promise<void> {
    this.#now = new Date(this.#now.getTime() + hours * HOUR_MS);
    await this.#house.moveClock(this.tenant, this.#now);
  }

  /** What was put aside is worked off: nothing of it may be refused, as all of it is true. */
  async applyAsides(): Promise<void> {
    const asides = this.#asides;
    this.#asides = [];
    for (const aside of asides) expect(await applyTo(this.#house, this.tenant, aside)).toEqual({ ok: true });
    await this.#house.idle();
  }

  async #perform(step: Step): Promise<void> {
    if (step.does === 'at once') await Promise.all(step.steps.map((one) => this.#perform(one)));
    else await this.#performOne(step);
  }

  async #performOne(step: Exclude<Step, { does: 'at once' }>): Promise<void> {
    if (step.does === 'wait') return this.wait(step.hours);
    if (step.does === 'wait for what is next') return this.#waitForNext(step.minutesAfter);
    if (step.does === 'pay') return this.#pay(step);
    if (step.does === 'apply what was put aside') return this.applyAsides();
    if (step.does === 'reject a file') return this.#rejectFile(step);
    if ('entry' in step) return this.#sendBack(step);
    const id = this.paymentIds[step.payment % this.paymentIds.length];
    if (id === undefined) return;
    if (step.does === 'send back together') await sendBackTogether(this.#house, this.tenant, { id, ...step });
    else if (step.does === 'send back again') await this.#sendBackAgain(id, step);
    else if (step.does === 'cancel') await unlessRefused(this.#house.cancel(this.tenant, id));
    else if (step.does === 'refund') await this.#refund(id, step.amounts);
    else await this.#force(id, step);
  }

  /** To the next time at which an entry leaves or counts, or an answer lies there. */
  async #waitForNext(minutesAfter: number): Promise<void> {
    const { database } = this.#house;
    const { rows } = await database.query<{ at: Date | null }>(
      `select min(at) as at from (
         select case state when 'queued' then due_at else good_at end as at from ach_entries
         where scope = $1 and state in ('queued', 'sent')
         union all select due_at from sandbox_ach_answers where mailbox = $1 and outbox_name is null) as due
       where at > $2`,
      [this.tenant.id, new Date(this.#now.getTime() + MINUTE_MS)],
    );
    const at = rows[0]?.at;
    if (at) await this.wait((at.getTime() + minutesAfter * MINUTE_MS - this.#now.getTime()) / HOUR_MS);
  }

  async #sendBack({ does, entry: index, code }: Extract<Step, { entry: number }>): Promise<void> {
    const keys = this.paymentIds.map((id) => ({ tenantId: this.tenant.id, id }));
    const out = (await findEntriesOf(this.#house.database, keys)).filter(isOut);
    const entry = out[index % out.length];
    if (!entry) return;
    const { paymentId: id, leg } = entry;
    if (does === 'send back garbled') return this.#sendBackGarbled(entry, code);
    await sendBack(this.#house, this.tenant, { id, leg, code });
  }

  async #pay({ sourceId, destinationId, amount, prefer }: Order): Promise<void> {
    const methodOf = (name: string) => this.#balances.get(name) ?? name;
    const ends = { sourceId: methodOf(sourceId), destinationId: methodOf(destinationId) };
    if (sourceId === destinationId) return;
    const isBook = this.#balances.has(sourceId) && this.#balances.has(destinationId);
    const rail = isBook ? ('auto' as const) : ('ach' as const);
    await this.#accept(this.#house.pay(this.tenant, { ...ends, amount, prefer, rail }));
  }

  async #refund(id: string, amounts: readonly (number | null)[]): Promise<void> {
    await Promise.all(amounts.map((part) => this.#accept(this.#house.refund(this.tenant, id, part))));
  }

  async #accept(accepting: Promise<string>): Promise<void> {
    const id = await unlessRefused(accepting);
    if (id !== undefined) this.paymentIds.push(id);
    await this.#house.idle();
  }

  async #force(
    id: string,
    { outcome, code }: { outcome: ForcedOutcome; code: string | null },
  ): Promise<void> {
    const forcing = this.#house.force(this.tenant, id, outcome, code).then(() => true);
    const isDone = await unlessRefused(forcing);
    if (isDone && outcome === 'settle') this.settledByOrder.add(id);
  }

  async #rejectFile({ file, resend }: { file: number; resend: boolean }): Promise<void> {
    const { rows } = await this.#house.database.query<{ id: string; payments: string[] }>(
      `select f.id, array_agg(e.payment_id) as payments from ach_files f join ach_entries e on e.file_id = f.id
       where f.scope = $1 and f.refusal is null group by f.id order by f.id desc`,
      [this.tenant.id],
    );
    const chosen = rows[file % rows.length];
    // Who says that a file was never taken, and that an entry of it came back, cannot be believed in both.
    if (!chosen || chosen.payments.some((id) => this.unclear.has(id))) return;
    await this.#house.rejectFile(chosen.id, { reason: 'a story', resend });
  }

  /** A bank returns what it had returned before: that is put aside, and is no answer to anything else. */
  async #sendBackAgain(id: string, { leg, code }: { leg: AchLeg; code: string }): Promise<void> {
    const keys = [{ tenantId: this.tenant.id, id }];
    const sent = (await findEntriesOf(this.#house.database, keys)).filter(({ sentAs }) => sentAs !== null);
    const entry = sent.findLast((one) => one.leg === leg);
    if (!entry || (entry.state !== 'returned' && entry.state !== 'refused')) return;
    const content = await sendBackAgain(this.#house, this.tenant, { entry, code });
    expect(await applyTo(this.#house, this.tenant, { id, content })).toMatchObject({ ok: false });
  }

  /** A return whose trace is not ours: put aside until somebody applies it. */
  async #sendBackGarbled(entry: AchEntry, code: string): Promise<void> {
    const { paymentId: id } = entry;
    if (this.unclear.has(id)) return;
    const content = await sendBackGarbled(this.#house, this.tenant, { entry, code });
    if (content === undefined) return;
    this.#asides.push({ id, content });
    this.onceUnclear.add(id);
  }
}

/** What the API refuses is an answer; anything else is a fault. */
async function unlessRefused<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError && error.kind !== 'internal') return undefined;
    throw error;
  }
}
