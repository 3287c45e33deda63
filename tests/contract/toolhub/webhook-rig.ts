import { expect } from 'vitest';
import type { Instance } from '../../../services/toolhub/test/instance.ts';
import { type Api, apiOf, newCustomer } from './customer.ts';
import { answer, type Receiver } from './receiver.ts';

export const CONFIG = '/api/webhooks/config';

/** What tests of webhooks do again and again, on what runs by the time they do it. */
export function webhookRig(running: () => { service: Instance; receiver: Receiver }) {
  let paths = 0;
  const deadLetters = async (api: Api) => (await api('GET', '/api/webhooks/dlq')).body.data;
  return {
    deadLetters,
    deliveries: async (api: Api) => (await api('GET', '/api/webhooks/deliveries')).body.data,

    /** A customer whose webhook has a path of its own. */
    async setUp(options: { events?: string[] } = {}) {
      const { service, receiver } = running();
      const customer = await newCustomer(service.url);
      const api = apiOf(service.url, customer.token);
      paths += 1;
      const path = `/hooks/${paths}`;
      const made = await api('POST', CONFIG, { webhook_url: receiver.url + path, ...options });
      expect(made.status).toBe(201);
      return { customer, api, path, secret: made.body.webhook_secret as string };
    },

    arrivals: (path: string, count: number) =>
      expect.poll(() => running().receiver.at(path).length, { interval: 10 }).toBe(count),

    /** Sends a test event that cannot arrive, and waits until it is a dead letter. */
    async makeDeadLetter(api: Api, path: string) {
      running().receiver.on(path, answer(500));
      const before = (await deadLetters(api)).length;
      expect((await api('POST', '/api/webhooks/test')).status).toBe(202);
      await expect.poll(async () => (await deadLetters(api)).length, { interval: 20 }).toBe(before + 1);
      return (await deadLetters(api))[0];
    },
  };
}
