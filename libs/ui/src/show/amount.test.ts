import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatAmount, parseAmount } from './amount.tsx';

test('amounts are shown and read', () => {
  expect(formatAmount(123_456)).toBe('$1,234.56');
  expect(formatAmount(-5, 'usd')).toBe('-$0.05');
  expect(parseAmount('$1,234.5')).toBe(123_450);
  expect(parseAmount('12')).toBe(1_200);
  for (const text of ['', '.', '1.234', '-1', '1e3', 'abc', '12.3.4', '25,00', '1,5', '1,23456', '1234,567'])
    expect(parseAmount(text)).toBeUndefined();
});

test('what is shown is read back as the same amount', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 9_999_999_999 }), (minor) => {
      expect(parseAmount(formatAmount(minor))).toBe(minor);
    }),
  );
});
