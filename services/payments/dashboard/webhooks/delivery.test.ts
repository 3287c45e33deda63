import { expect, test } from 'vitest';
import type { WebhookDelivery } from '../api/types.ts';
import { asTheyCome, untilArrived } from './delivery.ts';

const delivery = (status: WebhookDelivery['status'], nextMs?: number) =>
  ({
    status,
    next_attempt_at: nextMs === undefined ? null : new Date(Date.now() + nextMs).toISOString(),
  }) as WebhookDelivery;
const arrivedAfter = (...data: WebhookDelivery[]) => untilArrived.refetchMs?.({ data });

test('deliveries are followed until each has ended, whatever the others did', () => {
  expect(arrivedAfter()).toBe(false);
  expect(arrivedAfter(delivery('delivered'), delivery('failed'), delivery('abandoned'))).toBe(false);
  expect(arrivedAfter(delivery('delivered'), delivery('pending', -5))).toBe(2_000);
});

test('one that waits for a try far away is looked at seldom, and soon when the try is near', () => {
  expect(arrivedAfter(delivery('pending', 3_600_000))).toBe(60_000);
  expect(arrivedAfter(delivery('pending', 10_000))).toBeLessThanOrEqual(10_000);
  expect(arrivedAfter(delivery('pending', 3_600_000), delivery('pending'))).toBe(2_000);
});

test('what goes to an endpoint is followed for as long as it is looked at: more may come', () => {
  expect(asTheyCome.refetchMs?.({ data: [delivery('delivered')] })).toBe(5_000);
  expect(asTheyCome.refetchMs?.({ data: [delivery('pending')] })).toBe(2_000);
});
