// An endpoint is switched off with more waiting for it than goes in one step.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openShop } from '../../test/open-shop.ts';
import { type Receiver, startReceiver } from '../../test/receiver.ts';
import { RULES, SCHEMA, type Shop, until } from '../../test/service.ts';
import { createAbandonStore } from './abandon-store.ts';
import type { Delivery, EndpointRef } from './delivery.ts';
import type { DeliveryDispatcher, DeliveryDispatcherOptions } from './dispatcher.ts';

const DAY_MS = 86_400_000;
const STEP = 1_000;

let shop: Shop;
let receiver: Receiver;
let running: DeliveryDispatcher[] = [];
let shiftMs = 0;
let goOn = async () => {};

beforeEach(async () => {
  shiftMs = 0;
  shop = await openShop({ now: () => new Date(Date.now() + shiftMs) });
  receiver = await startReceiver();
});
afterEach(async () => {
  await goOn();
  await Promise.all(running.map((dispatcher) => dispatcher.stop()));
  running = [];
  await receiver.close();
  await shop.close();
  expect(shop.errors.splice(0)).toEqual([]);
});

async function start(options?: Partial<DeliveryDispatcherOptions>): Promise<DeliveryDispatcher> {
  const dispatcher = shop.dispatcher({ pollMs: 50, ...options });
  await dispatcher.start();
  running.push(dispatcher);
  return dispatcher;
}

async function countIn(table: 'queue' | 'emptying' | 'deliveries', of: EndpointRef): Promise<number> {
  const { rowCount } = await shop.database.query(
    `select 1 from ${SCHEMA}.${table} where endpoint_id = $1 ${table === 'deliveries' ? "and status = 'abandoned'" : ''}`,
    [of.endpointId],
  );
  return rowCount;
}

const switchOff = (ref: EndpointRef) =>
  shop.database.transaction(async (tx) => {
    await tx.query(`update ${SCHEMA}.endpoints set enabled = false where id = $1`, [ref.endpointId]);
    return shop.queue.abandonEndpoint(tx, ref);
  });

/** One of those that went to the log when its endpoint was switched off. */
async function oneAbandoned({ tenantId, endpointId }: EndpointRef) {
  const { rows } = await shop.database.query<{ id: string; event_id: string }>(
    `select id, event_id from ${SCHEMA}.deliveries where endpoint_id = $1 and status = 'abandoned' limit 1`,
    [endpointId],
  );
  return { tenantId, id: rows[0]?.id ?? '', eventId: rows[0]?.event_id };
}

const retry = ({ tenantId, id }: { tenantId: string; id: string }) =>
  shop.database.transaction((tx) => shop.queue.retry(tx, { tenantId, id }));

/** Nobody gets on with the rest of this endpoint until `goOn` is called. */
async function holdUpEmptying(ref: EndpointRef): Promise<void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: held, resolve: isHeld } = Promise.withResolvers<void>();
  const holding = shop.database.transaction(async (tx) => {
    expect(await createAbandonStore(SCHEMA).isOurs(tx, ref)).toBe(true);
    isHeld();
    await released;
  });
  await held;
  goOn = async () => {
    release();
    await holding;
  };
}

const switchOn = (ref: EndpointRef) =>
  shop.database.query(`update ${SCHEMA}.endpoints set enabled = true where id = $1`, [ref.endpointId]);

it('a bounded number of rows goes with it, and the rest after it, those that are due in days, too', async () => {
  const ref = await shop.addEndpoint(`${receiver.url}/long`);
  await shop.emit(ref, 2 * STEP + 500);
  await shop.database.query(`update ${SCHEMA}.queue set due_at = $1`, [new Date(Date.now() + DAY_MS)]);
  expect(await switchOff(ref)).toBe(STEP);
  expect(await countIn('queue', ref)).toBe(STEP + 500);
  await start();
  await until('nothing waits', async () => (await countIn('queue', ref)) === 0);
  expect(await countIn('deliveries', ref)).toBe(2 * STEP + 500);
  await until('that is noted', async () => (await countIn('emptying', ref)) === 0);
  expect(receiver.to('/long')).toEqual([]);
});

it('as many as go in one step go with it, and nothing is left to do', async () => {
  const ref = await shop.addEndpoint(`${receiver.url}/short`);
  await shop.emit(ref, STEP - 1);
  expect(await switchOff(ref)).toBe(STEP - 1);
  expect(await countIn('emptying', ref)).toBe(0);
});

it('one that is switched on again meanwhile gets what was added since, and nothing of before', async () => {
  const ref = await shop.addEndpoint(`${receiver.url}/again`);
  await shop.emit(ref, STEP + 200);
  await switchOff(ref);
  await switchOn(ref);
  shiftMs = 1_000;
  const since = await shop.emit(ref, 3);
  await start();
  await until('it got them', () => receiver.to('/again').length >= 3);
  await until('nothing waits', async () => (await countIn('queue', ref)) === 0);
  expect(
    receiver
      .to('/again')
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(since.toSorted());
  expect(await countIn('deliveries', ref)).toBe(STEP + 200);
});

it('what was given up and is tried again is sent, and not given up with the rest of before', async () => {
  const ref = await shop.addEndpoint(`${receiver.url}/revived`);
  await shop.emit(ref, STEP + 200);
  await switchOff(ref);
  const lost = await oneAbandoned(ref);
  await switchOn(ref);
  shiftMs = 1_000;
  expect(await retry(lost)).toMatchObject({ id: lost.id, status: 'pending' });
  await start();
  await until('nothing waits', async () => (await countIn('queue', ref)) === 0);
  expect(receiver.to('/revived').map(({ id }) => id)).toEqual([lost.eventId]);
  expect(await shop.queue.find(shop.database, lost)).toMatchObject({ status: 'delivered' });
});

it('what still waits and is tried again now is sent, and not given up with the rest of before', async () => {
  const ref = await shop.addEndpoint(`${receiver.url}/hurried`);
  await shop.emit(ref, STEP + 200);
  await switchOff(ref);
  await switchOn(ref);
  const [waiting] = await shop.queue.list(shop.database, { ...ref, limit: 1 });
  expect(waiting?.status).toBe('pending');
  shiftMs = 1_000;
  await retry(waiting as Delivery);
  await start();
  await until('nothing waits', async () => (await countIn('queue', ref)) === 0);
  expect(receiver.to('/hurried').map(({ id }) => id)).toEqual([waiting?.eventId]);
});

it('who tries again by a clock that is behind that of who switched it off loses nothing either', async () => {
  const ref = await shop.addEndpoint(`${receiver.url}/behind`);
  await shop.emit(ref, STEP + 200);
  shiftMs = 500;
  await switchOff(ref);
  await switchOn(ref);
  const lost = await oneAbandoned(ref);
  shiftMs = 0;
  await retry(lost);
  await start();
  await until('nothing waits', async () => (await countIn('queue', ref)) === 0);
  expect(receiver.to('/behind').map(({ id }) => id)).toEqual([lost.eventId]);
});

it('what was added since waits for none of what is given up', async () => {
  const ref = await shop.addEndpoint(`${receiver.url}/beside`);
  await shop.emit(ref, 2 * STEP);
  // Some come due again only while the rest is being given up, between those that are added.
  await shop.database.query(
    `update ${SCHEMA}.queue set due_at = $1 where id in (select id from ${SCHEMA}.queue order by id desc limit 100)`,
    [new Date(Date.now() + 500)],
  );
  await switchOff(ref);
  await holdUpEmptying(ref);
  await switchOn(ref);
  const lost = await oneAbandoned(ref);
  shiftMs = 1_000;
  await retry(lost);
  const since = [lost.eventId, ...(await shop.emit(ref, 3))];
  await start();
  await until('it got them', () => receiver.to('/beside').length >= since.length);
  expect(await countIn('queue', ref)).toBeGreaterThanOrEqual(STEP);
  await goOn();
  await until('nothing waits', async () => (await countIn('queue', ref)) === 0);
  expect(
    receiver
      .to('/beside')
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(since.toSorted());
});

it('what a dispatcher has read ahead is not sent either, but what is under way', async () => {
  const ref = await shop.addEndpoint(`${receiver.url}/ahead`);
  const held: (() => void)[] = [];
  // Quick at first, so that much is read ahead for it, and then it holds what it gets.
  receiver.on('/ahead', (_request, response, nth) => {
    if (nth <= 20) response.end();
    else held.push(() => response.end());
  });
  const dispatcher = await start({ pollMs: 60_000, timeoutMs: 60_000, slowMs: 30_000 });
  const events = await shop.emit(ref, 200);
  await until('much is read ahead', () => held.length >= 16 && dispatcher.stats().buffered >= 50);
  const underWay = dispatcher.stats().inFlight;
  expect(await switchOff(ref)).toBeGreaterThan(100);
  await switchOn(ref);
  const [since] = await shop.emit(ref, 1);
  await until('what was read ahead is forgotten', () => dispatcher.stats().buffered <= 1);
  expect(receiver.to('/ahead')).toHaveLength(20 + underWay);
  for (const answer of held) answer();
  receiver.on('/ahead', (_request, response) => response.end());
  await until('what was added since has come', () => receiver.to('/ahead').some(({ id }) => id === since));
  await until('nothing is left to do', () => {
    const { inFlight, buffered, unrecorded } = dispatcher.stats();
    return inFlight + buffered + unrecorded === 0;
  });
  expect(receiver.to('/ahead')).toHaveLength(20 + underWay + 1);
  expect(events.length).toBeGreaterThan(receiver.to('/ahead').length);
});

it('an endpoint that is gone is switched off by one result, with a queue of any length', async () => {
  receiver.on('/gone', (_request, response) => response.writeHead(410).end());
  const ref = await shop.addEndpoint(`${receiver.url}/gone`);
  await shop.emit(ref, 3 * STEP);
  let leftWithin = 0;
  await start({
    rules: RULES,
    perEndpointConcurrency: 4,
    hooks: {
      async onDisabled(tx, { endpointId }) {
        const { rowCount } = await tx.query(`select 1 from ${SCHEMA}.queue where endpoint_id = $1`, [
          endpointId,
        ]);
        leftWithin = Math.max(leftWithin, rowCount);
        await tx.query(`update ${SCHEMA}.endpoints set enabled = false where id = $1`, [endpointId]);
      },
    },
  });
  await until('nothing waits', async () => (await countIn('queue', ref)) === 0);
  expect(leftWithin).toBeGreaterThan(STEP);
  expect(await countIn('deliveries', ref)).toBe(3 * STEP);
});
