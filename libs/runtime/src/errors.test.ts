import { describe, expect, expectTypeOf, test } from 'vitest';
import { AppError, baseErrors, defineErrors, type ErrorKind, statusByKind } from './index.ts';

describe('AppError', () => {
  test('takes its status from its kind', () => {
    const expected: Record<string, number> = {
      malformed: 400,
      unauthenticated: 401,
      forbidden: 403,
      not_found: 404,
      method: 405,
      conflict: 409,
      gone: 410,
      too_large: 413,
      unsupported_type: 415,
      invalid: 422,
      refused: 422,
      rate_limited: 429,
      internal: 500,
      unavailable: 503,
    };
    for (const [kind, status] of Object.entries(expected)) {
      expect(new AppError(kind as ErrorKind, 'some_code', 'Detail.').status).toBe(status);
    }
    expect(Object.keys(statusByKind)).toEqual(expect.arrayContaining(Object.keys(expected)));
  });

  test('knows what may be tried again, and when', () => {
    expect(new AppError('unavailable', 'down', 'Down.').retryable).toBe(true);
    expect(new AppError('conflict', 'busy', 'Busy.').retryable).toBe(false);
    const busy = new AppError('conflict', 'busy', 'Busy.', { retryable: true, retryAfterSeconds: 0.2 });
    expect(busy.retryable).toBe(true);
    expect(busy.headers).toEqual({ 'retry-after': '1' });
    const later = new AppError('unavailable', 'down', 'Down.', {
      headers: { a: 'b' },
      retryAfterSeconds: 2.1,
    });
    expect(later.headers).toEqual({ a: 'b', 'retry-after': '3' });
  });

  test('keeps its cause for the log', () => {
    const cause = new Error('why');
    expect(new AppError('internal', 'internal', 'Oops.', { cause }).cause).toBe(cause);
  });
});

describe('defineErrors', () => {
  const errors = defineErrors({
    payment_not_found: { kind: 'not_found', title: 'Payment not found', detail: 'No payment has this id.' },
    rail_down: { kind: 'unavailable', title: 'Rail down', retryable: false },
    rate_limited: { kind: 'rate_limited', title: 'Slow down' },
  });

  test('makes errors to throw', () => {
    const error = errors.payment_not_found();
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({
      kind: 'not_found',
      code: 'payment_not_found',
      detail: 'No payment has this id.',
    });
    expect(errors.payment_not_found({ detail: 'pay_1 is gone.' }).detail).toBe('pay_1 is gone.');
    expect(errors.rail_down().detail).toBe('Rail down');
    expect(errors.rail_down().retryable).toBe(false);
    expect(errors.rail_down({ retryable: true }).retryable).toBe(true);
  });

  test('lists every code, those of the edge too', () => {
    expect(errors.codes).toEqual([...errors.codes].sort());
    expect(errors.codes).toEqual(expect.arrayContaining(['payment_not_found', 'invalid_json', 'internal']));
    expect(new Set(errors.codes).size).toBe(errors.codes.length);
    expect(errors.codes.length).toBe(baseErrors.codes.length + 2);
  });

  test('a service may word a code of the edge anew', () => {
    expect(errors.rate_limited().title).toBe('Slow down');
    expect(baseErrors.rate_limited().title).toBe('Rate limited');
  });

  test('unknown codes do not compile', () => {
    expectTypeOf(errors).toHaveProperty('payment_not_found');
    expectTypeOf(errors).not.toHaveProperty('payment_lost');
  });

  test('refuses names that cannot be codes', () => {
    for (const name of ['codes', 'definitions', 'Bad', 'has-dash', '']) {
      expect(() => defineErrors({ [name]: { kind: 'conflict', title: 'x' } })).toThrow(TypeError);
    }
  });

  test('is frozen', () => {
    expect(() => {
      (errors as { codes: unknown }).codes = [];
    }).toThrow(TypeError);
  });
});
