import { describe, expect, test } from 'vitest';
import type { AchEntry } from '../entries/entry.ts';
import type { BankAnswer, LooseEntry, ReturnAnswer } from '../nacha/loose.ts';
import { anEntry } from '../test/entries.ts';
import { changeKeyOf, isChange, matchAnswers } from './matching.ts';

const returned: ReturnAnswer = {
  kind: 'return',
  code: 'R01',
  originalTrace: '121042880000001',
  originalRdfi: '23138010',
  direction: 'debit',
  amountCents: 10_000,
};
const notified: BankAnswer = {
  kind: 'noc',
  code: 'C01',
  originalTrace: '121042880000001',
  originalRdfi: '23138010',
  direction: 'debit',
  correction: { accountNumber: '1' },
};
const read = (answer: BankAnswer): LooseEntry => ({ text: 'as it came', answer, fault: null });
const match = (answers: readonly BankAnswer[], found: readonly AchEntry[] = [anEntry('debit')]) =>
  matchAnswers(answers.map(read), found, new Set());

describe('[P-5.13] an answer of a bank', () => {
  test.each<[string, Partial<ReturnAnswer>]>([
    ['in all', {}],
    ['without its bank', { originalRdfi: '' }],
    ['without a direction', { direction: null }],
  ])('that fits the entry %s is applied', (_what, changes) => {
    const { matches, aside } = match([{ ...returned, ...changes }]);
    expect(matches).toMatchObject([{ entry: { paymentId: 'pay_1' }, answer: { code: 'R01' } }]);
    expect(aside).toEqual([]);
  });

  test.each<[string, Partial<ReturnAnswer>]>([
    ['trace', { originalTrace: '121042880000002' }],
    ['bank', { originalRdfi: '09140060' }],
    ['direction', { direction: 'credit' }],
    ['amount', { amountCents: 9_999 }],
    ['correspondent: it is between banks', { code: 'R61' }],
  ])('with another %s is put aside', (_what, changes) => {
    const { matches, aside } = match([{ ...returned, ...changes }]);
    expect(matches).toEqual([]);
    expect(aside).toMatchObject([{ text: 'as it came' }]);
  });

  test('returns an entry once, in a file and ever', () => {
    const twice = match([returned, returned]);
    expect(twice.matches).toHaveLength(1);
    expect(twice.aside).toMatchObject([{ reason: expect.stringContaining('the entry is returned') }]);
    for (const state of ['returned', 'refused', 'canceled'] as const)
      expect(match([returned], [anEntry('debit', { state })]).matches).toEqual([]);
    for (const state of ['sent', 'settled', 'overruled'] as const)
      expect(match([returned], [anEntry('debit', { state })]).matches).toHaveLength(1);
  });

  test('that notifies of a change has no amount, and comes for what was returned as well', () => {
    for (const state of ['settled', 'returned'] as const)
      expect(match([notified], [anEntry('debit', { state })]).matches).toHaveLength(1);
    expect(match([notified], [anEntry('credit')]).matches).toEqual([]);
  });

  test('notifies an entry of a change once, in a file and ever', () => {
    const others: BankAnswer[] = [
      { ...notified, code: 'C02', correction: { routingNumber: '231380104' } },
      { ...notified, correction: { accountNumber: '2' } },
    ];
    const { matches, aside } = match([notified, ...others, notified]);
    expect(matches.map(({ answer }) => answer)).toEqual([notified, ...others]);
    expect(aside).toMatchObject([{ reason: expect.stringContaining('was applied before') }]);
    const known = new Set(matches.filter(isChange).map(changeKeyOf));
    expect(matchAnswers([read(notified)], [anEntry('debit')], known).matches).toEqual([]);
    const another = anEntry('debit', { attemptId: 'another' });
    expect(matchAnswers([read(notified)], [another], known).matches).toHaveLength(1);
  });

  test('means the latest entry with its trace that it can answer', () => {
    const latest = anEntry('debit', { paymentId: 'pay_2' });
    const before = anEntry('debit', { amount: 5 });
    const of = (answer: BankAnswer) => match([answer], [latest, before]).matches[0]?.entry.paymentId;
    expect(of(returned)).toBe('pay_2');
    expect(of({ ...returned, amountCents: 5 })).toBe('pay_1');
  });
});
