import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openShop } from '../../test/open-shop.ts';
import { type Receiver, startReceiver } from '../../test/receiver.ts';
import { RULES, SCHEMA, type Shop, TENANT, until } from '../../test/service.ts';
import { newWebhookSecret } from '../signing.ts';
import type { Delivery } from './delivery.ts';
import type { DeliveryDispatcher, DeliveryDispatcherOptions } from './dispatcher.ts';

let shop: Shop;
let receiver: Receiver;
let running: DeliveryDispatcher[] = [];

beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop.close());

beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await Promise.all(running.map((dispatcher) => dispatcher.stop()));
  running = [];
  await receiver.close();
  // An error that nobody expected fails the test in which it happened.
  expect(shop.errors.splice(0)).toEqual([]);
});

async function start(options?: Partial<DeliveryDispatcherOptions>): Promise<DeliveryDispatcher> {
  const dispatcher = shop.dispatcher(options);
  await dispatcher.start();
  running.push(dispatcher);
  return dispatcher;
}

async function deliveryOf(eventId: string): Promise<Delivery> {
  const list = await shop.queue.list(shop.database, { tenantId: TENANT, limit: 100 });
  const found = list.find((delivery) => delivery.eventId === eventId);
  if (found === undefined) throw new Error(`no delivery of ${eventId}`);
  return found;
}

async function settled(eventId: string): Promise<Delivery> {
  await until(`${eventId} is settled`, async () => (await deliveryOf(eventId)).nextAttemptAt === null);
  return deliveryOf(eventId);
}

async function waitingIn(place: Shop): Promise<number> {
  const { rowCount } = await place.database.query(`select 1 from ${SCHEMA}.queue`);
  return rowCount;
}

describe('a delivery', () => {
  it('arrives signed with every valid secret, under the id of the event, and is written down', async () => {
    const secrets = [newWebhookSecret(randomBytes), newWebhookSecret(randomBytes)];
    const ref = await shop.addEndpoint(`${receiver.url}/hook?a=1`, { secrets });
    await start();
    const [eventId = ''] = await shop.emit(ref, 1);
    const delivery = await settled(eventId);
    const [request] = receiver.to('/hook?a=1');
    if (request === undefined) throw new Error('nothing arrived');
    expect(request.id).toBe(eventId);
    expect(request.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Shop-Webhooks/1',
    });
    for (const secret of secrets) {
      expect(new Webhook(secret).verify(request.body, request.headers)).toEqual({
        id: eventId,
        type: 'order.paid',
      });
    }
    expect(delivery).toMatchObject({
      status: 'delivered',
      eventType: 'order.paid',
      url: `${receiver.url}/hook?a=1`,
      attempts: [{ status: 200, error: null }],
    });
    expect(delivery.attempts[0]?.duration_ms).toBeGreaterThanOrEqual(0);
    expect(Date.parse(delivery.attempts[0]?.at ?? '')).toBeGreaterThan(Date.now() - 60_000);
  });

  it('is sent at once after the commit, without waiting for a poll', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/quick`);
    await start({ pollMs: 60_000 });
    await shop.emit(ref, 1);
    await until('the first arrived', () => receiver.to('/quick').length === 1);
    const startedAt = performance.now();
    await shop.emit(ref, 1);
    const committedAt = performance.now();
    await until('the second arrived', () => receiver.to('/quick').length === 2);
    const arrivedAt = receiver.to('/quick')[1]?.atMs ?? 0;
    expect(arrivedAt - committedAt).toBeLessThan(500);
    expect(arrivedAt).toBeGreaterThan(startedAt);
  });

  it('is not sent when the transaction does not commit', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/rolled-back`);
    await start();
    const failed = shop.database.transaction(async (tx) => {
      await shop.queue.enqueue(tx, [{ ...ref, eventId: 'evt_none', eventType: 'order.paid' }]);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    await shop.emit(ref, 1);
    await until('the committed one arrived', () => receiver.to('/rolled-back').length === 1);
    expect(receiver.received.map((request) => request.id)).not.toContain('evt_none');
  });
});

describe('an offer', () => {
  it('goes out without being read back, once the lane is taken', async () => {
    const quiet = await openShop({ queue: { notify: false } });
    const ref = await quiet.addEndpoint(`${receiver.url}/offered`);
    let eventsRead = 0;
    const dispatcher = quiet.dispatcher({
      pollMs: 60_000,
      loadEvents: async (refs) => {
        eventsRead += refs.length;
        return refs.map((one) => ({ ...one, body: '{}' }));
      },
    });
    await dispatcher.start();
    await quiet.emit(ref, 1, dispatcher);
    await until('the first was recorded', async () => (await waitingIn(quiet)) === 0);
    expect(eventsRead).toBe(1);
    const ids = await quiet.emit(ref, 5, dispatcher);
    await until('all were recorded', async () => (await waitingIn(quiet)) === 0);
    expect(eventsRead).toBe(1);
    const offered = receiver.to('/offered').slice(1);
    expect(offered.map((request) => request.id)).toEqual(ids);
    expect(JSON.parse(offered[0]?.body ?? '')).toEqual({ id: ids[0], type: 'order.paid' });
    await dispatcher.stop();
    expect(quiet.errors).toEqual([]);
    await quiet.close();
  });

  it('never sends twice, though the same rows are announced, polled and offered', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/thrice`);
    const dispatcher = await start({ pollMs: 10 });
    const ids: string[] = [];
    for (let round = 0; round < 40; round += 1) {
      ids.push(...(await shop.emit(ref, 1 + (round % 30), dispatcher)));
    }
    await until('all were recorded', async () => (await waitingIn(shop)) === 0);
    expect(
      receiver
        .to('/thrice')
        .map((request) => request.id)
        .sort(),
    ).toEqual(ids.sort());
  });

  it('that comes late finds its row sent already', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/late-offer`);
    const dispatcher = await start();
    const [eventId = ''] = await shop.emit(ref, 1);
    const delivery = await settled(eventId);
    dispatcher.offer([{ ...delivery, body: '{}' }]);
    await shop.emit(ref, 1, dispatcher);
    await until('the next arrived', () => receiver.to('/late-offer').length === 2);
    expect(receiver.to('/late-offer').filter((request) => request.id === eventId)).toHaveLength(1);
  });
});

describe('a failure', () => {
  it('is tried again in time when several rows of its lane fall due while the process is busy', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/stalled`);
    const tries = new Map<string, number>();
    receiver.on('/stalled', ({ id }, response) => {
      tries.set(id, (tries.get(id) ?? 0) + 1);
      response.writeHead(tries.get(id) === 1 ? 500 : 200).end();
    });
    // The next poll, which would find them all, is far away.
    await start({ rules: { ...RULES, retryDelaysMs: [150] }, pollMs: 60_000 });
    for (let n = 0; n < 3; n += 1) {
      await shop.emit(ref, 1);
      await new Promise((wait) => setTimeout(wait, 40));
    }
    await until('each was tried', () => tries.size === 3);
    const busyUntil = performance.now() + 120;
    while (performance.now() < busyUntil); // The first row falls due now, the others soon after.
    await until('each was tried again', () => [...tries.values()].every((count) => count === 2));
  });

  it('is tried again after the delays of the schedule, with the same id, and is dead at the end', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/down`);
    receiver.on('/down', (_request, response) => response.writeHead(500).end());
    // Nothing but its own timer brings a try about.
    await start({ pollMs: 60_000 });
    const [eventId = ''] = await shop.emit(ref, 1);
    const delivery = await settled(eventId);
    expect(delivery.status).toBe('dead');
    expect(delivery.attempts.map(({ status, error }) => ({ status, error }))).toEqual(
      Array(4).fill({ status: 500, error: 'answered 500' }),
    );
    const requests = receiver.to('/down');
    expect(new Set(requests.map((request) => request.id))).toEqual(new Set([eventId]));
    const gaps = requests.slice(1).map((request, index) => request.atMs - (requests[index]?.atMs ?? 0));
    for (const [index, delayMs] of RULES.retryDelaysMs.entries()) {
      // A timer may fire a millisecond early; late is only a matter of load.
      expect(gaps[index]).toBeGreaterThanOrEqual(delayMs - 2);
    }
  });

  it('ends with the first success', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/flaky`);
    receiver.on('/flaky', (_request, response, nth) => response.writeHead(nth < 3 ? 503 : 204).end());
    await start();
    const [eventId = ''] = await shop.emit(ref, 1);
    const delivery = await settled(eventId);
    expect(delivery.status).toBe('delivered');
    expect(delivery.attempts.map(({ status }) => status)).toEqual([503, 503, 204]);
  });

  it.each([
    [
      'a redirect',
      (response: import('node:http').ServerResponse, url: string) => {
        response.writeHead(307, { location: `${url}/elsewhere` }).end();
      },
      { status: 307, error: 'answered 307; redirects are not followed' },
    ],
    [
      'a closed connection',
      (response: import('node:http').ServerResponse) => {
        response.destroy();
      },
      { status: null, error: 'the connection was closed before the answer' },
    ],
    [
      'an answer that never ends',
      (response: import('node:http').ServerResponse) => {
        response.writeHead(200).write('x');
      },
      { status: 200, error: 'no complete answer within 300 ms' },
    ],
    ['no answer', () => undefined, { status: null, error: 'no complete answer within 300 ms' }],
  ])('may be %s', async (name, answer, expected) => {
    const path = `/${name.replaceAll(' ', '-')}`;
    const ref = await shop.addEndpoint(receiver.url + path);
    receiver.on(path, (_request, response) => answer(response, receiver.url));
    await start({ timeoutMs: 300, rules: { ...RULES, retryDelaysMs: [] } });
    const [eventId = ''] = await shop.emit(ref, 1);
    const delivery = await settled(eventId);
    expect(delivery.status).toBe('dead');
    expect(delivery.attempts).toMatchObject([expected]);
    expect(receiver.to('/elsewhere')).toEqual([]);
  });

  it('may be a port where nobody listens, or an address that the guard refuses', async () => {
    const nobody = await startReceiver();
    await nobody.close();
    const closed = await shop.addEndpoint(`${nobody.url}/`);
    const refused = await shop.addEndpoint('https://10.0.0.1/');
    const broken = await shop.addEndpoint(`${receiver.url}/`, { secrets: ['not a secret'] });
    await start({ rules: { ...RULES, retryDelaysMs: [] } });
    const outcomes: unknown[] = [];
    for (const ref of [closed, refused, broken]) {
      const [eventId = ''] = await shop.emit(ref, 1);
      outcomes.push((await settled(eventId)).attempts[0]?.error);
    }
    expect(outcomes).toEqual([
      'the connection was refused',
      'address refused: 10.0.0.1 is an address in a private range',
      'a webhook secret is whsec_ and base64',
    ]);
  });

  it('with a long body in the answer is judged by its status, and the rest is not read', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/long`);
    let written = 0;
    receiver.on('/long', (_request, response) => {
      const chunk = Buffer.alloc(64 * 1024);
      const more = () => {
        while (!response.destroyed && written < 1e9 && response.write(chunk)) written += chunk.length;
      };
      response.on('drain', more);
      more();
    });
    await start();
    const [eventId = ''] = await shop.emit(ref, 1);
    expect(await settled(eventId)).toMatchObject({
      status: 'delivered',
      attempts: [{ status: 200, error: null }],
    });
    expect(written).toBeLessThan(50e6);
  });

  it('waits as long as Retry-After asks', async () => {
    const ref = await shop.addEndpoint(`${receiver.url}/busy`);
    receiver.on('/busy', (_request, response, nth) => {
      if (nth === 1) response.writeHead(429, { 'retry-after': '1' }).end();
      else response.end();
    });
    await start();
    const [eventId = ''] = await shop.emit(ref, 1);
    expect((await settled(eventId)).status).toBe('delivered');
    const [first, second] = receiver.to('/busy');
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(995);
  });
});
