// Which time each figure is of, and how far the job that counts goes.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromNewYork } from '../clock/new-york.ts';
import { createHouse, type House } from '../rails/ach/test/house.ts';
import type { Tenant } from '../tenant.ts';
import type { Span } from './overview.ts';
import { createOverviews } from './service.ts';

const DAY_MS = 86_400_000;

let house: House;
let tenant: Tenant;

beforeAll(async () => {
  house = await createHouse();
  tenant = await house.addTenant('org_overview');
  await house.setClock(tenant, fromNewYork('2083-03-01', '09:00'));
});
afterAll(() => house.close());

function createOverview(now: () => Date = () => new Date()) {
  const { database, context } = house;
  const asked: Span[] = [];
  const overviews = createOverviews({
    ...{ database, databases: { test: database, live: database }, clocks: context.clocks, now },
    webhooks: {
      async countUndelivered(_tenant, span) {
        asked.push(span);
        return 0;
      },
      countDisabled: async () => 0,
    },
  });
  return { overviews, asked };
}

test('payments are of the time that the sandbox shows, deliveries of the real one', async () => {
  const { overviews, asked } = createOverview();
  const { span } = await overviews.of(tenant, { days: 1 });
  expect(span.from).toEqual(new Date('2083-03-01T00:00:00Z'));
  const [deliveries] = asked;
  const now = Date.now();
  expect(deliveries?.to.getTime()).toBeLessThanOrEqual(now + 3_600_000);
  expect(deliveries?.from.getTime()).toBeGreaterThan(now - 2 * DAY_MS);
});

test('the job counts all that waits, turn by turn, and figures are kept for 400 days', async () => {
  const { overviews } = createOverview();
  await overviews.of(tenant, { days: 1 });
  await house.pay(tenant);
  // More than one turn counts, before the event of the payment in its order.
  await house.database.query(
    `insert into events select (jsonb_populate_record(e, jsonb_build_object('id', e.id || n, 'type', 'payment_method.created'))).*
     from events e, generate_series(1, 2000) as n where tenant_id = $1 and type = 'payment.pending'`,
    [tenant.id],
  );
  await house.pay(tenant);
  const { database } = house;
  // A transaction that is open elsewhere on the server holds up what came after it.
  const isOver = async () => {
    const { rows } = await database.query<{ over: boolean }>(
      'select pg_snapshot_xmin(pg_current_snapshot()) > max(txid) as over from events where tenant_id = $1',
      [tenant.id],
    );
    return rows[0]?.over;
  };
  await expect.poll(isOver).toBe(true);
  await overviews.handler.handle([], { signal: AbortSignal.timeout(60_000) });
  const { rows } = await database.query<{ payments: number }>(
    'select sum(payments)::int as payments from payment_figures where tenant_id = $1',
    [tenant.id],
  );
  expect(rows).toEqual([{ payments: 2 }]);
  const sweepAfter = (days: number) =>
    createOverview(() => new Date(Date.parse('2083-03-01T14:00:00Z') + days * DAY_MS)).overviews.sweep(10);
  expect([await sweepAfter(400), await sweepAfter(401)]).toEqual([0, 1]);
});
