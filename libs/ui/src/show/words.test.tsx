import { expect, test } from 'vitest';
import { capitalised, wordsOfCode } from './words.tsx';

test('codes are read as words', () => {
  expect(wordsOfCode('account_closed')).toBe('Account closed');
  expect(wordsOfCode('payment_method.created')).toBe('Payment method created');
  expect(capitalised('the connection was refused')).toBe('The connection was refused');
  expect(capitalised('')).toBe('');
});
