import { expect, test } from 'vitest';
import { wordsOfRefusal } from './refusal-words.ts';

const candidate = (rail: string, ...reasons: string[]) => ({ rail, possible: reasons.length === 0, reasons });
const noRail = (...candidates: object[]) => ({ code: 'rail_not_available', body: { candidates } });

test('a rail that was asked for says why it cannot, and which one can', () => {
  const refusal = noRail(
    candidate('rtp', 'destination_cannot_receive', 'amount_over_limit'),
    candidate('ach'),
    candidate('book', 'only_between_balances'),
  );
  expect(wordsOfRefusal(refusal, { asked: 'rtp' })).toBe(
    'RTP cannot carry this payment: the destination account cannot receive by it, and the amount is over its limit. Set the rail to “Choose for me”: ACH can carry it.',
  );
});

test('where no rail can, each says why, and the sentence after them says what would help', () => {
  const refusal = noRail(
    candidate('rtp', 'destination_cannot_receive'),
    candidate('ach', 'amount_over_limit'),
    candidate('book', 'only_between_balances'),
  );
  expect(wordsOfRefusal(refusal)).toBe(
    'No rail can carry this payment. RTP: the destination account cannot receive by it. ACH: the amount is over its limit. Pay to another account, or send a smaller amount.',
  );
});

test('a reason that this page does not know yet is still no code', () => {
  expect(wordsOfRefusal(noRail(candidate('rtp', 'closed_on_sundays')), { asked: 'rtp' })).toBe(
    'RTP cannot carry this payment: closed on sundays. Choose other accounts or another amount.',
  );
});

test('money is written as money', () => {
  const exceeds = (left: number) => ({
    code: 'refund_exceeds_payment',
    body: { refundable_amount: left },
  });
  expect(wordsOfRefusal(exceeds(125_050))).toBe('At most $1,250.50 of this payment can still be refunded.');
  expect(wordsOfRefusal(exceeds(125_050), { currency: 'EUR' })).toContain('€1,250.50');
  expect(wordsOfRefusal(exceeds(0))).toBe('All of this payment is refunded already, or on its way back.');
  expect(wordsOfRefusal({ code: 'insufficient_funds', body: { available: 990 } })).toBe(
    'The balance has $9.90 available. Send no more than that, or add money to it first.',
  );
  expect(wordsOfRefusal({ code: 'amount_too_large', body: {} })).toBe('At most $99,999,999.99 at a time.');
});

test('all others keep the words of the server', () => {
  expect(wordsOfRefusal({ code: 'not_found', body: {} })).toBeUndefined();
});
