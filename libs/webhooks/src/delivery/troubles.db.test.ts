import type { Database, Queryable } from '@libs/db';
import { createOutage } from '@libs/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openShop } from '../../test/open-shop.ts';
import { type Receiver, startReceiver } from '../../test/receiver.ts';
import { SCHEMA, type Shop } from '../../test/service.ts';

const REFUSED = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

let shop: Shop;
let receiver: Receiver;

beforeAll(async () => {
  shop = await openShop();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await shop.close();
});

/** The shop's database with a way to it that can be cut. */
function cuttable(database: Database) {
  const way = { isCut: false, refused: 0 };
  const pass = () => {
    if (!way.isCut) return;
    way.refused += 1;
    throw REFUSED;
  };
  const over = (to: Queryable): Queryable => ({
    async query(...asked) {
      pass();
      return to.query(...asked);
    },
  });
  const cut: Database = {
    ...database,
    ...over(database),
    async transaction(...asked) {
      pass();
      return database.transaction(...asked);
    },
    async session(work) {
      pass();
      return database.session((session) => work(over(session)));
    },
  };
  return { way, database: cut };
}

test('a database that is away is told of once, and once more when it is back and all is recorded', async () => {
  const { way, database } = cuttable(shop.database);
  const told: unknown[] = [];
  const dispatcher = shop.dispatcher({
    database,
    outage: createOutage({ began: (error) => told.push(error), ended: () => told.push('ended') }),
    ...{ pollMs: 20, silenceMs: 100 },
  });
  await dispatcher.start();
  receiver.on('/hook', (_request, response) => {
    way.isCut = true;
    response.end();
  });
  const [eventId] = await shop.emit(await shop.addEndpoint(`${receiver.url}/hook`), 1);
  // The name, the look at the queue and the result have all been tried several times by then.
  await expect.poll(() => way.refused).toBeGreaterThan(40);
  expect(told).toEqual([REFUSED]);
  way.isCut = false;
  await expect.poll(() => told.slice(1)).toEqual(['ended']);
  const { rows } = await shop.database.query(`select event_id, status from ${SCHEMA}.deliveries`);
  expect(rows).toEqual([{ event_id: eventId, status: 'delivered' }]);
  await dispatcher.stop();
  expect(told).toHaveLength(2);
  expect(shop.errors).toEqual([]);
});
