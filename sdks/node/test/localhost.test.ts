import dns from 'node:dns';
import net from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { forward } from '../src/cli/forward.ts';
import { Payments } from '../src/index.ts';
import { empty, json, scriptedServer } from './scripted-server.ts';

type Told = (error: Error | null, found: string, family: number) => void;

// As on Node 18, which tries the first address of a name alone, where the hosts file names ::1 first.
const triesAll = net.getDefaultAutoSelectFamily();
beforeEach(() => {
  net.setDefaultAutoSelectFamily(false);
  const { lookup } = dns;
  vi.spyOn(dns, 'lookup').mockImplementation(((name: string, options: object, told: Told) => {
    if (name !== 'localhost') lookup(name, options, told);
    else process.nextTick(told, null, '::1', 6);
  }) as unknown as typeof dns.lookup);
});
afterEach(() => {
  net.setDefaultAutoSelectFamily(triesAll);
  vi.restoreAllMocks();
});

const byName = (url: string) => url.replace('127.0.0.1', 'localhost');

test('a server on 127.0.0.1 is found by the name localhost, by the client and by what is forwarded', async () => {
  const server = await scriptedServer(json(202, { id: 'pay_1' }), empty(204));
  const client = new Payments({ apiKey: 'sk_test_x', baseUrl: byName(server.url), maxRetries: 0 });
  await client.payments.create({
    ...{ amount: 1, currency: 'USD' },
    ...{ source: { payment_method_id: 'pm_a' }, destination: { payment_method_id: 'pm_b' } },
  });
  const event = { id: 'evt_1', type: 'payment.pending', data: {} } as unknown as Parameters<
    typeof forward
  >[0];
  const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
  const sent = await forward(event, `${byName(server.url)}/hooks`, secret, new AbortController().signal);
  expect(sent.delivered).toBe(true);
  expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /v1/payments',
    'POST /hooks',
  ]);
});

test('where nobody listens on either, the error says so', async () => {
  const server = await scriptedServer(empty(204));
  await server.close();
  const client = new Payments({ apiKey: 'sk_test_x', baseUrl: byName(server.url), maxRetries: 0 });
  await expect(client.payments.get('pay_1')).rejects.toThrow(
    `Could not get an answer from ${byName(server.url)}: ECONNREFUSED.`,
  );
});
