import { type Pace, timesOf } from '../schedule/schedule.ts';
import { debitGoodAt } from '../schedule/windows.ts';
import { type AchEntry, AttemptEntries } from './entry.ts';
import { type AchScope, isCompressed } from './scope.ts';

export interface RefundTiming {
  scope: AchScope;
  from: Date;
  pace: Pace;
}

export function byAttempt(entries: readonly AchEntry[]): AttemptEntries[] {
  return [...attemptsById(entries).values()];
}

/** The ids of attempts are unique over all payments. */
export function attemptsById(entries: readonly AchEntry[]): ReadonlyMap<string, AttemptEntries> {
  const groups = Map.groupBy(entries, ({ attemptId }) => attemptId);
  return new Map([...groups].map(([id, group]) => [id, new AttemptEntries(group)]));
}

/** Nobody waits for a refund as for a payment, so it leaves when the debit can no longer come back as well. */
function refundFrom(debit: AchEntry, { scope, from, pace }: RefundTiming): Date {
  if (isCompressed(scope)) return new Date(from.getTime() + pace.sandboxMs);
  const good = debitGoodAt(debit.settlesAt, pace.terms);
  return good > from ? good : from;
}

/** What was collected and cannot reach its destination goes back to where it came from. */
export function refundsFor(entries: readonly AchEntry[], timing: RefundTiming): AchEntry[] {
  const { scope, pace } = timing;
  return byAttempt(entries).flatMap((attempt): AchEntry[] => {
    const debit = attempt.get('debit');
    if (!debit || !attempt.needsRefund()) return [];
    const { amount } = debit;
    return [
      {
        ...debit,
        leg: 'refund',
        state: 'queued',
        presentment: 0,
        sameDay: false,
        ...timesOf(
          { scope, from: refundFrom(debit, timing), amount, sameDay: false, leg: 'refund', legs: 'credit' },
          pace,
        ),
        sentAs: null,
        returnCode: null,
      },
    ];
  });
}
