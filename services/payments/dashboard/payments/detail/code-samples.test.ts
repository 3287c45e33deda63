import { expect, test } from 'vitest';
import type { Payment } from '../../api/types.ts';
import { samplesOf } from './code-samples.ts';

const payment = {
  ...{ amount: 2_500, currency: 'USD', rail: 'auto', description: "it's", metadata: {}, refund_of: null },
  source: { payment_method_id: 'pm_alice' },
  destination: { payment_method_id: 'pm_bob' },
  rail_decision: { prefer: 'speed' },
} as unknown as Payment;

const textOf = (wanted: Partial<Payment>) =>
  samplesOf({ ...payment, ...wanted }, { origin: 'http://localhost:4000', mode: 'test' }).map(
    ({ text }) => text,
  );

test('what was preferred is part of the order in each language, where a rail was left to choose', () => {
  for (const text of textOf({})) expect(text).toMatch(/"routing": \{\s+"prefer": "speed"\s+\}/);
  for (const text of textOf({ rail: 'rtp' })) expect(text).not.toContain('routing');
  const balanced = { rail_decision: { ...payment.rail_decision, prefer: 'balanced' as const } };
  for (const text of textOf(balanced)) expect(text).not.toContain('routing');
});

test('a quote in a description does not end the word of the shell', () => {
  expect(textOf({})[0]).toContain(String.raw`"description": "it'\''s"`);
});
