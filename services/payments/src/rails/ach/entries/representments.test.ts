import { describe, expect, test } from 'vitest';
import { fromNewYork } from '../../../clock/new-york.ts';
import { newAttempt } from '../../../payments/outcomes.ts';
import type { Payment } from '../../../payments/payment.ts';
import { aPayment } from '../../../payments/test/a-payment.ts';
import { createPace, type LegPlan } from '../schedule/schedule.ts';
import { anEntry } from '../test/entries.ts';
import { type AchEntry, type AchEntryState, AttemptEntries } from './entry.ts';
import { representmentOf, settlementAfter } from './representments.ts';

const pace = createPace(2_000);
const attempts = [newAttempt('att_1', 'ach')];

interface Case {
  entry?: Partial<AchEntry>;
  code?: string;
  payment?: Partial<Payment>;
  credit?: AchEntryState;
  wanted?: number;
}

function presented({ entry: changes = {}, code = 'R01', payment, credit, wanted = 2 }: Case) {
  const entry = anEntry('debit', changes);
  const attempt = new AttemptEntries([
    { ...entry, state: 'returned' },
    ...(credit ? [anEntry('credit', { state: credit })] : []),
  ]);
  return representmentOf(
    { entry, answer: { code }, payment: aPayment({ status: 'processing', attempts, ...payment }), attempt },
    {
      ...{ wanted, legs: 'debit_then_credit' as LegPlan, pace, newId: () => 'att_2' },
      asOf: fromNewYork('2026-11-18', '08:30'),
    },
  );
}

describe('[P-5.18] a debit that came back for want of money', () => {
  test('is presented again by the standard window, also where it had left on the same day', () => {
    expect(presented({ entry: { sameDay: true, presentment: 1, returnCode: 'R01' } })).toMatchObject({
      attemptId: 'att_2',
      state: 'queued',
      presentment: 2,
      amount: 10_000,
      sameDay: false,
      dueAt: fromNewYork('2026-11-18', '22:30'),
      settlesAt: fromNewYork('2026-11-19', '08:30'),
      goodAt: fromNewYork('2026-11-23', '08:30'),
      sentAs: null,
      returnCode: null,
    });
    expect(presented({ code: 'R09' })).not.toBeNull();
    expect(presented({ credit: 'queued' })).not.toBeNull();
  });

  test.each<[string, Case]>([
    ['for another reason', { code: 'R02' }],
    ['with a code that nobody knows', { code: 'R99' }],
    ['a third time', { entry: { presentment: 2 }, wanted: 5 }],
    ['more often than is wanted', { entry: { presentment: 1 }, wanted: 1 }],
    ['at all where it is not wanted', { wanted: 0 }],
    ['after its credit has left', { credit: 'sent' }],
    ['for a payment that was completed', { payment: { status: 'completed' } }],
    ['for a payment that failed', { payment: { status: 'failed' } }],
    [
      'for an attempt that another one replaced',
      { payment: { attempts: [...attempts, newAttempt('att_9', 'ach')] } },
    ],
    ['where it is a credit', { entry: { leg: 'credit' } }],
  ])('is not presented again %s', (_why, given) => {
    expect(presented(given)).toBeNull();
  });

  test('completes the payment when its money is good, or when the credit that follows has settled', () => {
    const debit = anEntry('debit');
    const after = (legs: LegPlan, feeAmount: number) =>
      settlementAfter(debit, aPayment({ feeAmount }), legs, pace);
    const { feeCents, sameDayFeeCents } = pace.terms;
    expect(after('debit', feeCents)).toEqual(debit.goodAt);
    expect(after('debit_then_credit', feeCents)).toEqual(fromNewYork('2026-11-20', '08:30'));
    expect(after('debit_then_credit', sameDayFeeCents)).toEqual(fromNewYork('2026-11-19', '13:00'));
  });
});
