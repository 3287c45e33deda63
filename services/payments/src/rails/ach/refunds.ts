import { type AchEntry, AttemptEntries } from './entry.ts';
import { type Pace, timesOf } from './schedule.ts';
import type { AchScope } from './scope.ts';

export interface RefundTiming {
  scope: AchScope;
  from: Date;
  pace: Pace;
}

export function byAttempt(entries: readonly AchEntry[]): AttemptEntries[] {
  const groups = Map.groupBy(entries, ({ tenantId, paymentId, attemptId }) =>
    [tenantId, paymentId, attemptId].join(' '),
  );
  return [...groups.values()].map((group) => new AttemptEntries(group));
}

/** What was collected and cannot reach its destination goes back to where it came from. */
export function refundsFor(entries: readonly AchEntry[], { scope, from, pace }: RefundTiming): AchEntry[] {
  return byAttempt(entries).flatMap((attempt): AchEntry[] => {
    const debit = attempt.get('debit');
    if (!debit || !attempt.needsRefund()) return [];
    const { amount } = debit;
    return [
      {
        ...debit,
        leg: 'refund',
        state: 'queued',
        sameDay: false,
        ...timesOf({ scope, from, amount, sameDay: false, legs: 1 }, pace),
        sentAs: null,
        returnCode: null,
      },
    ];
  });
}
