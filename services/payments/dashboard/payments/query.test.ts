import { addressOf } from '@libs/ui';
import { expect, test } from 'vitest';
import { paymentQuery } from './query.ts';

test('what is typed for metadata always filters, also where it is no pair', () => {
  expect(paymentQuery({ status: 'failed', metadata: 'order = 7=8' })).toEqual({
    status: 'failed',
    'metadata[order]': '7=8',
  });
  expect(paymentQuery({ metadata: 'order' })).toEqual({ 'metadata[order]': '' });
  expect(paymentQuery({ status: 'failed' })).toEqual({ status: 'failed' });
});

test('a key without a value is asked for', () => {
  expect(addressOf('/v1/payments', paymentQuery({ metadata: 'order', cursor: undefined }))).toBe(
    '/v1/payments?metadata%5Border%5D=',
  );
});
