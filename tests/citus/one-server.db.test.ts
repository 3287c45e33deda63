// While the server of some customers is away those of the others can call: no statement of a call asks more than one server.

import { randomBytes } from 'node:crypto';
import type { Database, Queryable } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { createIdFactory, createSealer } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBillingService } from '../../services/toolhub/src/billing/service.ts';
import { createArgumentsMarks } from '../../services/toolhub/src/calls/arguments-mark.ts';
import { createIdempotency } from '../../services/toolhub/src/calls/idempotency.ts';
import { createEmitEvent } from '../../services/toolhub/src/events/service.ts';
import { reckonMonth } from '../../services/toolhub/src/invoices/reckoning.ts';
import { migrationSource } from '../../services/toolhub/src/schema.ts';
import { TOOLHUB_TABLES } from '../../services/toolhub/src/spreading/tables.ts';

const now = () => new Date();
const newId = createIdFactory({ now, randomBytes });
const marks = createArgumentsMarks(createSealer({ keys: [Buffer.alloc(32, 7)] }));

let made: TestDatabase;
beforeAll(async () => {
  made = await createTestDatabase(migrationSource, TOOLHUB_TABLES);
});
afterAll(() => made.drop());

/** How many pieces the first server makes of it, each of which may lie on another one. */
async function countTasks(text: string, values: readonly unknown[] | undefined): Promise<number> {
  const { rows } = await made.database.query(`explain (format json) ${text}`, values);
  const found = JSON.stringify(rows).matchAll(/"Task Count":\s*(\d+)/g);
  return Math.max(0, ...[...found].map(([, count]) => Number(count)));
}

test('a call with a key, from the gate to its result, asks the server of its customer alone', async () => {
  const asked = new Map<string, readonly unknown[] | undefined>();
  const listening = <Kind extends Queryable>(db: Kind): Kind => ({
    ...db,
    query: (statement: Parameters<Queryable['query']>[0], values?: readonly unknown[]) => {
      asked.set(typeof statement === 'string' ? statement : statement.text, values);
      return db.query(statement, values);
    },
  });
  const database: Database = {
    ...listening(made.database),
    transaction: (work, options) => made.database.transaction((tx) => work(listening(tx)), options),
  };
  const failures: unknown[] = [];
  const onError = (error: unknown) => void failures.push(error);
  const emitEvent = createEmitEvent({ newId, now });
  const billing = createBillingService({ database, newId, now, reckonMonth, emitEvent, onError });
  const keys = createIdempotency({ database, holder: billing.meter.holder, marks, newId, onError });
  const signal = new AbortController().signal;

  async function callOnce(customerId: string, resultJson: string | null): Promise<void> {
    const key = await keys.claim({ customerId, tool: 'alpha_send_note', key: 'key', args: {}, signal });
    const check = await billing.meter.checkLimit(customerId);
    if (key.kind !== 'claimed' || check.kind !== 'reserved') throw new Error('nothing is in its way');
    await billing.meter.settle({
      ...{ customerId, reservation: check.reservation, platform: 'alpha', tool: 'alpha_send_note' },
      ...{ succeeded: true, unit: 'kept', durationMs: 3, alongside: key.ending(resultJson) },
    });
  }

  for (const resultJson of [null, '{"content":[]}']) {
    const customerId = newId('cus');
    await made.database.query(
      `insert into customers (id, email, name, password_hash, plan, created_at) values ($1, $1, 'x', 'x', 'free', now())`,
      [customerId],
    );
    await billing.changePlan(customerId, { plan: 'starter', spendCapCents: 5_000 });
    await callOnce(customerId, resultJson);
    await billing.planState(customerId);
  }
  const tasks: [string, number][] = [];
  for (const [text, values] of asked) tasks.push([text, await countTasks(text, values)]);
  expect(tasks.length).toBeGreaterThan(15);
  expect(tasks.filter(([, count]) => count > 1)).toEqual([]);
  await keys.close();
  await billing.close();
  expect(failures).toEqual([]);
});
