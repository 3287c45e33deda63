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
