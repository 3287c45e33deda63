import { expect } from 'vitest';
import type { Harness } from './harness.ts';
import type { Receiver } from './receiver.ts';

export const ENDPOINTS = '/v1/webhook_endpoints';

/** An organisation of its own, with what tests of webhooks do again and again. */
export async function setUpWebhooks(harness: Harness, receiver: Receiver) {
  const { test: key, live } = await harness.organisation();
  const call = (method: string, path: string, body?: unknown) =>
    harness.call(method, path, { key, ...(body === undefined ? {} : { body }) });
  const endpoint = async (path = '/', more: object = {}) => {
    const made = await call('POST', ENDPOINTS, { url: receiver.url + path, ...more });
    expect(made.status).toBe(201);
    return made.body;
  };
  /** Causes an event: a payment method is created. */
  const cause = async () => (await call('POST', '/v1/payment_methods', { type: 'balance' })).body;
  const deliveries = async (endpointId: string) =>
    (await call('GET', `${ENDPOINTS}/${endpointId}/deliveries`)).body.data;
  return { live, call, endpoint, cause, deliveries };
}

/** Waits until so many have come to one path. */
export function arrivals(receiver: Receiver, path: string, count: number) {
  return expect.poll(() => receiver.at(path).length, { interval: 10 }).toBe(count);
}
