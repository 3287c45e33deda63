import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Payment } from '../../api/types.ts';
import { areMetadataLines, bodyOfDraft, draftOf, emptyDraft, quotedBodyOf, repeatedKey } from './draft.ts';

const line = fc.string({ minLength: 1, maxLength: 40, unit: 'binary' });
const order = fc.record({
  amount: fc.integer({ min: 1, max: 99_999_999_999 }),
  currency: fc.constant('USD'),
  source: fc.constant({ payment_method_id: 'pm_alice' }),
  destination: fc.constant({ payment_method_id: 'pm_bob' }),
  rail: fc.constantFrom('rtp' as const, 'ach' as const, 'auto' as const),
  // The form cuts off what is blank around a description.
  description: fc.constantFrom('Invoice 7', 'a=b'),
  metadata: fc.dictionary(line, fc.string({ unit: 'binary', maxLength: 500 }), { minKeys: 1 }),
});

test('a payment that is tried again is ordered as it was, whatever programs wrote into its metadata', () => {
  fc.assert(
    fc.property(order, fc.constantFrom('balanced', 'speed', 'cost'), (wanted, prefer) => {
      const payment = { ...wanted, rail_decision: { prefer } } as unknown as Payment;
      const draft = draftOf(payment);
      expect(areMetadataLines(draft.metadata)).toBe(true);
      expect(repeatedKey(draft.metadata)).toBeUndefined();
      expect(bodyOfDraft(draft)).toEqual({
        ...wanted,
        ...(wanted.rail === 'auto' ? { routing: { prefer, fallback: true } } : {}),
      });
    }),
  );
});

test('metadata is typed as lines of key=value; quotes are characters unless both sides have them', () => {
  const metadataOf = (metadata: string) =>
    bodyOfDraft({ ...emptyDraft, amount: '1', from: 'pm_a', to: 'pm_b', metadata }).metadata;
  expect(metadataOf('order = 7\n\nnote="now"')).toEqual({ order: '7', note: '"now"' });
  expect(metadataOf('"two\\nlines"="a=b"')).toEqual({ 'two\nlines': 'a=b' });
  expect(areMetadataLines('no pair')).toBe(false);
});

test('an account that is missing is left out by itself, and what was typed stays at the other', () => {
  const body = bodyOfDraft({ ...emptyDraft, amount: '25', from: 'pm_alice', to: ' ' });
  expect(body).toMatchObject({ amount: 2_500, source: { payment_method_id: 'pm_alice' }, destination: {} });
});

test('a quote needs the amount and both accounts, and no more: a line of metadata may be half typed', () => {
  const draft = { ...emptyDraft, amount: '25', from: 'pm_alice', to: 'pm_bob' };
  expect(quotedBodyOf({ ...draft, metadata: 'ord', description: 'Rent' })).toEqual(quotedBodyOf(draft));
  for (const missing of [{ amount: '0' }, { amount: 'x' }, { from: '' }, { to: ' ' }])
    expect(quotedBodyOf({ ...draft, ...missing })).toBeUndefined();
});

test('a key that stands on two lines is told, however it is written there', () => {
  expect(repeatedKey('order=1\nother=2\n order = 3')).toBe('order');
  expect(repeatedKey('"order"="1"\norder=2')).toBe('order');
  expect(repeatedKey('order=1\nOrder=1\nno pair\nno pair')).toBeUndefined();
});
