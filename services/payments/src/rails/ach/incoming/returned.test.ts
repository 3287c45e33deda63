import { describe, expect, test } from 'vitest';
import { OUTSIDE_SOURCES } from '../../../ledger/transfer.ts';
import type { Payment } from '../../../payments/payment.ts';
import { aPayment } from '../../../payments/test/a-payment.ts';
import { type AchEntry, type AchEntryState, AttemptEntries } from '../entries/entry.ts';
import { anEntry } from '../test/entries.ts';
import { returnOutcome } from './returned.ts';

interface Case {
  leg: AchEntry['leg'];
  /** Of the entry before it came back. */
  was?: AchEntryState;
  status: Payment['status'];
  others?: Partial<Record<AchEntry['leg'], AchEntryState>>;
  code?: string;
  /** From one bank to another, unless it says otherwise. */
  isToBalance?: boolean;
}

function told({ leg, was = 'sent', status, others = {}, code = 'R01', isToBalance = false }: Case) {
  const before = anEntry(leg, { state: was });
  const entry: AchEntry = { ...before, state: 'returned', returnCode: code };
  const siblings = Object.entries(others).map(([other, state]) =>
    anEntry(other as AchEntry['leg'], { state: state as AchEntryState }),
  );
  const attempt = new AttemptEntries([entry, ...siblings]);
  const payment = aPayment({
    ...{ status, debitAccount: OUTSIDE_SOURCES, sourceId: 'pm_payer' },
    ...(isToBalance && { destinationId: 'pm_balance', creditAccount: 'pm_balance' }),
  });
  return returnOutcome({ before, entry, payment, attempt, again: undefined });
}

describe('[P-5.12] what comes back', () => {
  test.each<[string, Case]>([
    [
      'a debit before its credit has left',
      { leg: 'debit', status: 'processing', others: { credit: 'queued' } },
    ],
    ['a debit into a balance', { leg: 'debit', status: 'processing' }],
    ['a credit under way', { leg: 'credit', status: 'processing', others: { debit: 'settled' } }],
    ['a credit that had settled', { leg: 'credit', was: 'settled', status: 'completed' }],
    [
      'a debit whose money lies in a balance',
      { leg: 'debit', was: 'settled', status: 'completed', isToBalance: true },
    ],
  ])('%s ends the payment, and nobody owes anything', (_what, given) => {
    const [outcome, ...more] = told(given);
    expect(outcome).toMatchObject({ kind: 'returned', networkCode: 'R01', code: expect.any(String) });
    expect(outcome).not.toHaveProperty('owed');
    expect(more).toEqual([]);
  });

  test('a debit whose credit was paid leaves its source owing', () => {
    const given: Case = { leg: 'debit', was: 'settled', status: 'completed', others: { credit: 'settled' } };
    expect(told(given)).toMatchObject([{ kind: 'returned', owed: true }]);
  });

  test.each([{}, { credit: 'queued' }, { credit: 'canceled' }, { credit: 'overruled' }] as const)(
    'a debit whose payment was completed by order leaves its source owing, with %o',
    (others) => {
      const given: Case = { leg: 'debit', was: 'overruled', status: 'completed', others };
      expect(told(given)).toMatchObject([{ kind: 'returned', owed: true }]);
    },
  );

  test('a debit whose credit is under way waits for what becomes of that', () => {
    const given: Case = { leg: 'debit', was: 'settled', status: 'processing', others: { credit: 'sent' } };
    expect(told(given)).toEqual([]);
  });

  test.each(['sent', 'settled'] as const)(
    'a debit that was paid back is owed, once that was %s',
    (refund) => {
      const others = { credit: 'returned', refund } as const;
      expect(told({ leg: 'debit', was: 'settled', status: 'failed', others })).toMatchObject([
        { kind: 'owed', networkCode: 'R01' },
      ]);
    },
  );

  test('what was owed is repaid by whom it had been paid to', () => {
    const returned = { debit: 'returned' } as const;
    expect(told({ leg: 'refund', status: 'failed', others: returned })).toMatchObject([
      { kind: 'repaid', by: 'source' },
    ]);
    expect(told({ leg: 'credit', was: 'settled', status: 'returned', others: returned })).toMatchObject([
      { kind: 'repaid', by: 'destination' },
    ]);
    expect(told({ leg: 'credit', status: 'processing', others: returned })).toMatchObject([
      { kind: 'returned' },
    ]);
  });

  test('a refund of money that is here tells the payment nothing', () => {
    expect(told({ leg: 'refund', status: 'failed', others: { debit: 'settled' } })).toEqual([]);
  });

  test('an entry under way of a payment that was completed by order changes nothing', () => {
    expect(told({ leg: 'credit', status: 'completed' })).toEqual([]);
    expect(told({ leg: 'debit', status: 'completed' })).toEqual([]);
  });

  test('[P-5.14] a code that nobody knows is kept as it was sent', () => {
    expect(told({ leg: 'debit', status: 'processing', code: 'R99' })).toMatchObject([
      {
        networkCode: 'R99',
        code: 'returned_by_bank',
        detail: 'The bank of the source returned the entry: a code that is not known here.',
      },
    ]);
    expect(told({ leg: 'credit', status: 'processing' })).toMatchObject([
      { detail: expect.stringContaining('of the destination') },
    ]);
  });
});
