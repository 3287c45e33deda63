import { describe, expect, test } from 'vitest';
import { AMOUNT_MAX } from '../payment.ts';
import type { CreatePaymentBody } from '../schemas.ts';
import { canonicalBodyOf, inputFromBody } from './input.ts';

const body: CreatePaymentBody = {
  amount: 1_000,
  currency: 'USD',
  source: { payment_method_id: 'pm_alice' },
  destination: { payment_method_id: 'pm_bob' },
};

describe('[P-4.5] two bodies are the same', () => {
  test('whatever the order of their fields', () => {
    const ordered = { ...body, metadata: { a: '1', b: '2' } };
    const { amount, ...rest } = ordered;
    expect(canonicalBodyOf({ ...rest, metadata: { b: '2', a: '1' }, amount })).toBe(canonicalBodyOf(ordered));
  });

  test('only where every field is', () => {
    const others: Partial<CreatePaymentBody>[] = [
      {},
      { amount: 1_001 },
      { currency: 'usd' },
      { source: { payment_method_id: 'pm_bob' }, destination: { payment_method_id: 'pm_alice' } },
      { source: { payment_method_id: 'pm_carol' } },
      { destination: { payment_method_id: 'pm_carol' } },
      { rail: 'ach' },
      { rail: 'rtp' },
      { routing: { prefer: 'speed' } },
      { routing: { prefer: 'cost' } },
      { routing: { fallback: false } },
      { routing: { prefer: 'speed', fallback: false } },
      { description: 'Rent' },
      { description: 'Rent, again' },
      { metadata: { a: '1' } },
      { metadata: { a: '2' } },
      { metadata: { b: '1' } },
      { metadata: { a: '1', b: '1' } },
    ];
    const texts = others.map((change) => canonicalBodyOf({ ...body, ...change }));
    expect(new Set(texts).size).toBe(others.length);
  });
});

describe('what a body asks for', () => {
  test('[P-10.13] a fallback by itself with auto, on no other rail, and not where it is declined', () => {
    expect(inputFromBody(body)).toMatchObject({ rail: 'auto', prefer: 'balanced', fallback: true });
    expect(inputFromBody({ ...body, routing: { fallback: false } }).fallback).toBe(false);
    expect(inputFromBody({ ...body, rail: 'ach' }).fallback).toBe(false);
    expect(inputFromBody({ ...body, rail: 'ach', routing: { fallback: false } }).fallback).toBe(false);
    expect(() => inputFromBody({ ...body, rail: 'ach', routing: { fallback: true } })).toThrow();
  });

  test('the largest amount, any letter case of the currency, and every fault at once', () => {
    expect(inputFromBody({ ...body, amount: AMOUNT_MAX, currency: 'uSd' })).toMatchObject({
      amount: AMOUNT_MAX,
      currency: 'uSd',
    });
    const wrong = {
      ...{ ...body, amount: AMOUNT_MAX + 1, currency: 'EUR', destination: body.source },
      ...{ rail: 'rtp' as const, routing: { fallback: true } },
    };
    expect(() => inputFromBody(wrong)).toThrow(
      expect.objectContaining({
        code: 'amount_too_large',
        details: ['/amount', '/currency', '/routing/fallback', '/destination/payment_method_id'].map(
          (pointer) => expect.objectContaining({ pointer }),
        ),
      }),
    );
  });
});
