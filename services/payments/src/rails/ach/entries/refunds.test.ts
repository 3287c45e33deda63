import { describe, expect, test } from 'vitest';
import { fromNewYork } from '../../../clock/new-york.ts';
import { aPayment } from '../../../payments/test/a-payment.ts';
import { createPace } from '../schedule/schedule.ts';
import { anEntry } from '../test/entries.ts';
import { type AchEntry, type AchEntryState, AttemptEntries, methodIdOf } from './entry.ts';
import { refundsFor } from './refunds.ts';
import { LIVE_SCOPE, SHARED_TEST_SCOPE } from './scope.ts';

const pace = createPace(2_000);
const states = (debit: AchEntryState, credit: AchEntryState, refund?: AchEntryState): AchEntry[] => [
  anEntry('debit', { state: debit, presentment: 1, sameDay: true }),
  anEntry('credit', { state: credit }),
  ...(refund ? [anEntry('refund', { state: refund })] : []),
];
const refunded = (entries: readonly AchEntry[], from = fromNewYork('2026-11-18', '09:00')) =>
  refundsFor(entries, { scope: LIVE_SCOPE, from, pace });

describe('[P-5.12] what was collected and cannot be paid', () => {
  test.each(['returned', 'refused', 'canceled'] as const)('goes back where the credit was %s', (credit) => {
    expect(refunded(states('settled', credit))).toMatchObject([
      { leg: 'refund', state: 'queued', amount: 10_000, presentment: 0, sameDay: false, sentAs: null },
    ]);
  });

  test('goes back once, and only where it is here', () => {
    expect(refunded(states('settled', 'returned', 'queued'))).toEqual([]);
    for (const debit of ['sent', 'returned', 'refused', 'overruled'] as const)
      expect(refunded(states(debit, 'returned'))).toEqual([]);
    for (const credit of ['queued', 'sent', 'settled'] as const)
      expect(refunded(states('settled', credit))).toEqual([]);
  });

  test('leaves when the debit can no longer come back, or at once after that', () => {
    // Settled on Tuesday the 17th: returns may come until the morning of the 19th.
    expect(refunded(states('settled', 'returned'))[0]?.dueAt).toEqual(fromNewYork('2026-11-19', '22:30'));
    const late = fromNewYork('2026-11-24', '09:00');
    expect(refunded(states('settled', 'returned'), late)[0]?.dueAt).toEqual(
      fromNewYork('2026-11-24', '22:30'),
    );
    const [hurried] = refundsFor(states('settled', 'returned'), {
      scope: SHARED_TEST_SCOPE,
      from: late,
      pace,
    });
    expect(hurried?.dueAt).toEqual(new Date(late.getTime() + 2_000));
  });

  test('is the source’s, as the debit was', () => {
    const payment = aPayment();
    const ids = (['debit', 'credit', 'refund'] as const).map((leg) => methodIdOf(payment, leg));
    expect(ids).toEqual([payment.sourceId, payment.destinationId, payment.sourceId]);
  });
});

test('[P-5.12] a debit that came back stops what has not left, and nothing else', () => {
  const stopped = (entries: readonly AchEntry[]) =>
    new AttemptEntries(entries).toCancel().map(({ leg }) => leg);
  expect(stopped(states('returned', 'queued'))).toEqual(['credit']);
  expect(stopped(states('returned', 'returned', 'queued'))).toEqual(['refund']);
  expect(stopped(states('returned', 'sent', 'sent'))).toEqual([]);
  expect(stopped(states('settled', 'queued'))).toEqual([]);
});
