import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SESSION_TOKEN_PREFIX } from '../people/service.ts';
import { REDACTED, redact, redactText } from './redaction.ts';

test('what names or opens an account is taken out, and what explains the call stays', () => {
  const sent = {
    type: 'bank_account',
    amount: 9_999_999_999,
    currency: 'USD',
    created_at: '2026-11-15T12:00:00.000Z',
    month: '2026-11',
    day: '2026-11-15',
    account_type: 'checking',
    account_id: 'la_01',
    bank_account: {
      routing_number: '021000021',
      account_number: '123456789',
      account_type: 'checking',
      holder_name: 'Grace Hopper',
      holder_type: 'individual',
      last4: '6789',
    },
    routing: { prefer: 'speed', fallback: true },
    key: 'sk_test_abcdef',
    secret: 'whsec_abc',
    acct: 12345678,
    odd: 123456789,
    content: '101 091000019 Grace Hopper',
    metadata: { order: '1001', owner_email: 'a@b.example', card: ['4111 1111 1111 1111'] },
    detail: 'The number 021000021 of sk_live_zzz by grace@example.com is wrong, 1234 5678 too.',
  };
  expect(redact(sent)).toEqual({
    type: 'bank_account',
    amount: 9_999_999_999,
    currency: 'USD',
    created_at: '2026-11-15T12:00:00.000Z',
    month: '2026-11',
    day: '2026-11-15',
    account_type: 'checking',
    account_id: 'la_01',
    bank_account: {
      routing_number: REDACTED,
      account_number: REDACTED,
      account_type: 'checking',
      holder_name: REDACTED,
      holder_type: 'individual',
      last4: '6789',
    },
    routing: { prefer: 'speed', fallback: true },
    key: REDACTED,
    secret: REDACTED,
    acct: REDACTED,
    odd: REDACTED,
    content: REDACTED,
    metadata: { order: '1001', owner_email: REDACTED, card: REDACTED },
    detail: `The number ${REDACTED} of ${REDACTED} by ${REDACTED} is wrong, ${REDACTED} too.`,
  });
  expect(redactText('payment_method=pm_alice&metadata%5Bmail%5D=a%40b.example')).toBe(
    `payment_method=pm_alice&metadata%5Bmail%5D=${REDACTED}`,
  );
});

test('an account number is found wherever it stands, and ids stay whole', () => {
  const number = fc.stringMatching(/^\d{7,17}$/);
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), number, fc.string(), (value, account, field) => {
      const text = JSON.stringify(redact({ [field]: { value, note: `to ${account}, please` } }));
      expect(text).not.toContain(account);
    }),
  );
  expect(redactText('pay_01jcrzq4c8kq2v0n5sxt2bhm6g')).toBe('pay_01jcrzq4c8kq2v0n5sxt2bhm6g');
});

test('every kind of token that people have is known by how it begins', () => {
  for (const prefix of [SESSION_TOKEN_PREFIX, 'sk_test_', 'sk_live_', 'whsec_', 'pml_', 'piv_']) {
    expect(redactText(`/v1/session/invitations/${prefix}kq3f8ZpW0n5sVxT2-bYhL6_uRc`)).toBe(
      `/v1/session/invitations/${REDACTED}`,
    );
  }
});
