// An endpoint is switched off with more waiting for it than goes in one step.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openShop } from '../../test/open-shop.ts';
import { type Receiver, startReceiver } from '../../test/receiver.ts';
import { RULES, SCHEMA, type Shop, until } from '../../test/service.ts';
import type { EndpointRef } from './delivery.ts';
import type { DeliveryDispatcher, DeliveryDispatcherOptions } from './dispatcher.ts';

const DAY_MS = 86_400_000;
const STEP = 1_000;

let shop: Shop;
let receiver: Receiver;
let running: DeliveryDispatcher[] = [];
let shiftMs = 0;

beforeEach(async () => {
  shiftMs = 0;
  shop = await openShop({ now: () => new Date(Date.now() + shiftMs) });
  receiver = await startReceiver();
});
afterEach(async () => {
  await Promise.all(running.map((dispatcher) => dispatcher.stop()));
  running = [];
  await receiver.close();
  await shop.close();
  expect(shop.errors.splice(0)).toEqual([]);
});

async function start(options?: Partial<DeliveryDispatcherOptions>): Promise<void> {
  const dispatcher = shop.dispatcher({ pollMs: 50, ...options });
  await dispatcher.start();
  running.push(dispatcher);
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
