// To add a plan is one row and no line of code: it is shown, taken, held at its limit and priced like the others.
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testPlatform } from '../mcp/test/platform.ts';
import {
  addCustomer,
  callTool,
  createToolhubDatabase,
  customerSession,
  type Instance,
  startInstance,
} from '../mcp/test/rig.ts';

const CUSTOMER = 'cus_plan';
let db: TestDatabase;
let hub: Instance;

beforeAll(async () => {
  db = await createToolhubDatabase();
  await addCustomer(db.database, CUSTOMER);
  await db.database.query(
    `insert into plans (id, position, name, price_cents, included_calls, overage_cents_per_1000, hard_stop)
     values ('tiny', 9, 'Tiny', 100, 2, 0, true)`,
  );
  hub = await startInstance({
    databaseUrl: db.url,
    connectors: [testPlatform('alpha').connector],
    tokens: new Map([[CUSTOMER, customerSession(CUSTOMER)]]),
  });
});

afterAll(async () => {
  await hub?.close();
  await db?.drop();
});

async function api(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`${hub.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${CUSTOMER}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await response.json()) as Record<string, unknown>;
}

test('[TH-7.1] a plan added as a row is shown, taken and held at its limit', async () => {
  const plans = (await api('GET', '/api/plans')) as { data: { id: string }[] };
  expect(plans.data.at(-1)).toEqual({
    ...{ id: 'tiny', name: 'Tiny', price_cents: 100 },
    ...{ included_calls: 2, overage_cents_per_1000: 0, hard_stop: true },
  });
  expect(await api('PUT', '/api/plan', { plan: 'tiny' })).toMatchObject({ plan: 'tiny', limit: 2 });
  const codes = [];
  for (let call = 0; call < 3; call += 1) {
    const result = await callTool(hub.url, CUSTOMER, 'alpha_get_note', { number: 1 });
    codes.push(JSON.stringify(result).includes('limit_exceeded'));
  }
  expect(codes).toEqual([false, false, true]);
});
