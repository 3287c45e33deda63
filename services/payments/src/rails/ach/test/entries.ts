import { fromNewYork } from '../../../clock/new-york.ts';
import type { AchEntry, AchLeg } from '../entries/entry.ts';
import { LIVE_SCOPE } from '../entries/scope.ts';

/** An entry that has left on Monday, 16 November 2026, and settles on Tuesday; a debit's money is good on Thursday. */
export function anEntry(leg: AchLeg, changes: Partial<AchEntry> = {}): AchEntry {
  const settlesAt = fromNewYork('2026-11-17', '08:30');
  return {
    tenantId: 'org_a.live',
    paymentId: 'pay_1',
    attemptId: 'att_1',
    leg,
    scope: LIVE_SCOPE,
    state: 'sent',
    amount: 10_000,
    presentment: 0,
    sameDay: false,
    dueAt: fromNewYork('2026-11-16', '22:30'),
    settlesAt,
    goodAt: leg === 'debit' ? fromNewYork('2026-11-19', '08:30') : settlesAt,
    sentAs: { trace: '121042880000001', rdfi: '23138010', fileId: 'ach_1', messageId: 'msg_1' },
    returnCode: null,
    ...changes,
  };
}
