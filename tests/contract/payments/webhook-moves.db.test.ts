// An endpoint whose address is changed while requests to the old one are under way: what that one answers still, the new one does not pay for.
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';
import { answer, type Received, type Receiver, startReceiver } from './receiver.ts';
import { arrivals as arrivalsAt, ENDPOINTS, setUpWebhooks } from './webhook-rig.ts';

const DAY_MS = 86_400_000;

let harness: Harness;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  harness = await startHarness({
    service: { webhooks: { rules: { retryDelaysMs: [300, 300], timeoutMs: 15_000, drainMs: 200 } } },
  });
});
afterAll(async () => {
  await harness.stop();
  await receiver.stop();
});
afterEach(() => {
  receiver.respond = answer(204);
  receiver.received.length = 0;
});

const arrivals = (path: string, count: number) => arrivalsAt(receiver, path, count);

/** An endpoint that has moved to `/new` while the old address owes the answers to `sent` requests; it gives them all at once. */
async function moveWhileSending(sent: number) {
  const rig = await setUpWebhooks(harness, receiver);
  const { id } = await rig.endpoint('/old');
  const owed: [ServerResponse, Received][] = [];
  receiver.respond = (...request) => void owed.push(request);
  await Promise.all(Array.from({ length: sent }, rig.cause));
  await arrivals('/old', sent);
  const moved = await rig.call('PATCH', `${ENDPOINTS}/${id}`, { url: `${receiver.url}/new` });
  expect(moved.status).toBe(200);
  return {
    ...rig,
    id,
    answerOld(status: number) {
      for (const [response, one] of owed) answer(status)(response, one);
    },
    endpointNow: async () => (await rig.call('GET', `${ENDPOINTS}/${id}`)).body,
  };
}

test('[P-8.9] [P-8.13] a 410 of the old address switches nothing off: what it refused goes to the new one', async () => {
  const { id, answerOld, deliveries, endpointNow } = await moveWhileSending(3);
  receiver.respond = answer(200);
  answerOld(410);
  const statuses = async () => (await deliveries(id)).map(({ status }: { status: string }) => status);
  await expect.poll(statuses).toEqual(['delivered', 'delivered', 'delivered']);
  await arrivals('/new', 3);
  expect((await deliveries(id))[0].attempts).toMatchObject([{ status: 410 }, { status: 200 }]);
  expect(await endpointNow()).toMatchObject({ status: 'enabled', disabled_reason: null });
});

test('[P-8.9] a failure of the old address does not count among the days of the new one', async () => {
  const { id, answerOld, deliveries, endpointNow } = await moveWhileSending(1);
  const held: ServerResponse[] = [];
  receiver.respond = (response) => void held.push(response);
  answerOld(503);
  await arrivals('/new', 1);
  harness.time.advance(5 * DAY_MS);
  receiver.respond = answer(500);
  for (const response of held) response.writeHead(500).end();
  await expect.poll(async () => (await deliveries(id))[0].attempts.length).toBe(3);
  expect(await endpointNow()).toMatchObject({ status: 'enabled', disabled_reason: null });
});
