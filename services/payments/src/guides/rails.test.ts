// The guide on rails tells the terms of the server that shows it.
import { expect, test } from 'vitest';
import { railIncludes } from './rails.ts';

test.each([
  [0, 'settled'],
  [1, 'settled, and 1 banking day later'],
  [2, 'settled, and 2 banking days later, when its ordinary returns can no longer come'],
  [5, 'settled, and 5 banking days later, when its ordinary returns can no longer come'],
])('with %i days of hold a debit is good when it is %s', (debitHoldDays, words) => {
  expect(railIncludes({ debitHoldDays }).debit_is_good).toBe(words);
});
