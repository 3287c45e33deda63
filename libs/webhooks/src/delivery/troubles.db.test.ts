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

test('lanes whose acquisition was written, but not answered, are its own: what waits there is sent', async () => {
  const lost = new Error('Connection terminated unexpectedly');
  let toLose = 1;
  const database: Database = {
    ...shop.database,
    async query(...asked) {
      const answer = await shop.database.query(...(asked as Parameters<Database['query']>));
      const [statement] = asked;
      const text = typeof statement === 'string' ? statement : statement.text;
      if (!text.includes('.lanes (tenant_id') || toLose === 0) return answer as never;
      toLose -= 1;
      throw lost;
    },
  };
  receiver.on('/unanswered', (_request, response) => response.end());
  const dispatcher = shop.dispatcher({ database, pollMs: 50 });
  await dispatcher.start();
  const [eventId] = await shop.emit(await shop.addEndpoint(`${receiver.url}/unanswered`), 1);
  const arrived = async () =>
    (await shop.database.query(`select status from ${SCHEMA}.deliveries where event_id = $1`, [eventId]))
      .rows;
  await expect.poll(arrived, { timeout: 5_000 }).toEqual([{ status: 'delivered' }]);
  expect(toLose).toBe(0);
  await dispatcher.stop();
  expect(shop.errors.splice(0)).toEqual([lost]);
});
