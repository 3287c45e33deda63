// A dispatcher is stopped while it removes what has run out of the log.
import type { Database, QueryResult } from '@libs/db';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openShop } from '../../test/open-shop.ts';
import { SCHEMA, type Shop, until } from '../../test/service.ts';

const STEP = 1_000;
const isOfSweep = (text: unknown) => String(text).startsWith(`delete from ${SCHEMA}.deliveries`);

let shop: Shop;
let steps = 0;
let letGo = () => {};

beforeEach(async () => {
  steps = 0;
  shop = await openShop();
});
afterEach(async () => {
  letGo();
  await shop.close();
  expect(shop.errors.splice(0)).toEqual([]);
});

/** A log in which every step finds as much as it may remove, when `answer` lets it. */
function endless(answer: () => Promise<void>): Database {
  return {
    ...shop.database,
    async query<Row extends object>(...asked: Parameters<Database['query']>): Promise<QueryResult<Row>> {
      if (!isOfSweep(asked[0])) return shop.database.query<Row>(...asked);
      steps += 1;
      await answer();
      return { rows: [], rowCount: STEP };
    },
  };
}

it('no further step of a sweep begins', async () => {
  const database = endless(() => new Promise((resume) => setTimeout(resume, 20)));
  const dispatcher = shop.dispatcher({ database, sweepMs: 1 });
  await dispatcher.start();
  await until('it sweeps', () => steps > 2);
  const before = steps;
  await dispatcher.stop();
  expect(steps).toBe(before);
});

it('its lanes are given back while the step under way lasts, and the stop is over when that is', async () => {
  const { promise: held, resolve } = Promise.withResolvers<void>();
  letGo = resolve;
  const dispatcher = shop.dispatcher({ database: endless(() => held), sweepMs: 1 });
  await dispatcher.start();
  await until('it sweeps', () => steps === 1);
  let isOver = false;
  const stopping = dispatcher.stop().then(() => {
    isOver = true;
  });
  const named = () => shop.database.query(`select 1 from ${SCHEMA}.dispatchers`);
  await until('it has given back what it had', async () => (await named()).rowCount === 0);
  expect(isOver).toBe(false);
  letGo();
  await stopping;
  expect(steps).toBe(1);
});
