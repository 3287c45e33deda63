import type { Payment } from '../../../payments/payment.ts';
import type { RailOutcome } from '../../rail.ts';
import { findEntriesOf, findToSettle, insertEntries, updateEntries } from '../entries/entries-store.ts';
import { type AchEntry, AttemptEntries, paymentKeyOf } from '../entries/entry.ts';
import { legsOf, lockPaymentsOf, paymentOf } from '../entries/payments.ts';
import type { AchScope } from '../entries/scope.ts';
import { debitReturned } from '../incoming/returned.ts';
import { lockScope } from '../outgoing/files-store.ts';
import { timesOf } from '../schedule/schedule.ts';
import { isPaidAsSameDay } from '../schedule/terms.ts';
import type { AchContext } from './context.ts';
import { notAhead } from './time.ts';

const ENTRIES_PER_STEP_MAX = 1_000;

export interface Settling {
  scope: AchScope;
  asOf: Date;
  /** Files that were at the bank before its answers were last fetched: of others, none can have come back yet. */
  fileIds: readonly string[];
}

/** Settles what has reached its time without coming back: debits when their hold is over. Answers how many entries were dealt with. */
export function settleDue(context: AchContext, { scope, asOf: wanted, fileIds }: Settling): Promise<number> {
  return context.database.transaction(async (tx) => {
    await lockScope(tx, scope);
    const asOf = await notAhead(context, tx, { scope, asOf: wanted });
    const due = await findToSettle(tx, { scope, asOf, fileIds, limit: ENTRIES_PER_STEP_MAX });
    if (due.length === 0) return 0;
    const payments = await lockPaymentsOf(tx, context, due);
    const siblings = Map.groupBy(await findEntriesOf(tx, due.map(paymentKeyOf)), attemptKeyOf);
    const steps = due.map((entry) => {
      const attempt = new AttemptEntries(siblings.get(attemptKeyOf(entry)) ?? []);
      return settle(context, entry, paymentOf(payments, entry), attempt);
    });
    await updateEntries(
      tx,
      steps.map((step) => step.entry),
    );
    await insertEntries(
      tx,
      steps.flatMap((step) => step.next),
    );
    await context.applyOutcomes(
      tx,
      steps.flatMap((step) => step.outcomes),
    );
    return due.length;
  });
}

function attemptKeyOf({ tenantId, paymentId, attemptId }: AchEntry): string {
  return `${tenantId} ${paymentId} ${attemptId}`;
}

interface Step {
  entry: AchEntry;
  next: AchEntry[];
  outcomes: RailOutcome[];
}

function settle(context: AchContext, entry: AchEntry, payment: Payment, attempt: AttemptEntries): Step {
  const settled: AchEntry = { ...entry, state: 'settled' };
  if (entry.leg === 'refund') return { entry: settled, next: [], outcomes: [] };
  const isUnderWay = payment.status === 'processing' && payment.attempts.at(-1)?.id === entry.attemptId;
  if (!isUnderWay) {
    // The other leg came back, which this one could not know of; or else the sandbox was told how it ends.
    const state = attempt.hasReturn ? 'settled' : 'overruled';
    return { entry: { ...entry, state }, next: [], outcomes: lostBefore(entry, payment, attempt) };
  }
  if (entry.leg === 'debit' && legsOf(payment) === 'debit_then_credit')
    return { entry: settled, next: [creditAfter(context, settled, payment)], outcomes: [] };
  const { tenantId, paymentId, attemptId, goodAt } = entry;
  const outcome: RailOutcome = { tenantId, paymentId, attemptId, kind: 'settled', at: goodAt };
  const debit = attempt.lostDebit;
  // The debit came back when the credit had left already: the payment is made, and its payer owes it.
  const lost = debit ? [debitReturned(debit, { isPaid: true })] : [];
  return { entry: settled, next: [], outcomes: [outcome, ...lost] };
}

/** A payment that was completed by order when its debit had come back, and whose credit was paid after all, is owed. */
function lostBefore({ leg }: AchEntry, { status }: Payment, { lostDebit }: AttemptEntries): RailOutcome[] {
  return leg === 'credit' && status === 'completed' && lostDebit
    ? [debitReturned(lostDebit, { isPaid: true })]
    : [];
}

/** The credit leaves when the debit is good, as quickly as was paid for, also where the debit was presented again. */
function creditAfter({ pace }: AchContext, debit: AchEntry, payment: Payment): AchEntry {
  const { scope, amount, goodAt } = debit;
  const sameDay = isPaidAsSameDay(payment, pace.terms);
  return {
    ...debit,
    leg: 'credit',
    state: 'queued',
    presentment: 0,
    sameDay,
    ...timesOf({ scope, from: goodAt, amount, sameDay, leg: 'credit', legs: 'debit_then_credit' }, pace),
    sentAs: null,
    returnCode: null,
  };
}
