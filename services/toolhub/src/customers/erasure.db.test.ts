// The end of an account beside calls that are under way.
import { randomBytes } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { startWorker, type Worker } from '@libs/jobs';
import { createIdFactory } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createInvoiceClosing } from '../invoices/closing.ts';
import { migrationSource } from '../schema.ts';
import { createErasure } from './erasure.ts';

const CUSTOMER = 'cus_1';
/** How many credentials there were each time that the platforms forgot the customer. */
const credentialsThen: number[] = [];

let db: TestDatabase;
let worker: Worker;
const failures: unknown[] = [];
const now = () => new Date();
const newId = createIdFactory({ now, randomBytes });
const holdProof = async () => {};

const count = async (table: string) =>
  (await db.database.query(`select 1 from ${table} where customer_id = $1`, [CUSTOMER])).rowCount;

/** Included ones and those beyond. */
async function invoicedCalls(): Promise<number | null | undefined> {
  const { rows } = await db.database.query<{ calls: number | null }>(
    `select sum((line->>'quantity')::int)::int as calls from invoices, jsonb_array_elements(lines) as line
     where customer_id = $1 and line->>'platform' = 'slack'`,
    [CUSTOMER],
  );
  return rows[0]?.calls;
}

/** The id of the job that waits. */
async function waitingJob(): Promise<number> {
  const { rows } = await db.database.query<{ id: number }>(
    `select max(id) as id from jobs where name = 'customers.settle'`,
  );
  return Number(rows[0]?.id);
}

beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
});
afterAll(async () => {
  await worker?.drain();
  await db?.drop();
  expect(failures).toEqual([]);
});

test('[TH-3.11] what the last invoice is reckoned from stays until calls that were under way have ended', async () => {
  const { database } = db;
  const erasure = createErasure({
    ...{ database, now },
    async forgetPlatforms(tx) {
      const held = await tx.query('select 1 from credentials where customer_id = $1', [CUSTOMER]);
      credentialsThen.push(held.rowCount);
    },
    forgetOrders: async () => {},
    revocations: {
      transaction: (work) => database.transaction((tx) => work(tx, async () => {})),
      announce: async () => {},
    },
    accounts: createInvoiceClosing({
      ...{ newId, now, platformTitle: (platform) => platform },
      issuer: { name: 'Toolhub', lines: [], taxId: null },
    }),
  });
  worker = await startWorker({
    ...{ database, now, handlers: erasure.handlers, pollMs: 50 },
    onError: (error) => void failures.push(error),
  });
  await database.query(
    `insert into customers (id, email, name, password_hash, plan, created_at)
     values ($1, 'ada@example.com', 'Ada', 'x', 'starter', now() - interval '1 hour')`,
    [CUSTOMER],
  );
  await database.query(
    `insert into usage_daily (customer_id, day, tool, duration_class, platform, calls, errors)
     values ($1, (now() at time zone 'UTC')::date, 'slack_list_channels', 1, 'slack', 50000, 0)`,
    [CUSTOMER],
  );
  await database.query(
    `insert into usage_reservations (customer_id, month, holder, units)
     values ($1, date_trunc('month', now() at time zone 'UTC'), 'process', 1)`,
    [CUSTOMER],
  );
  await database.query(
    `insert into credentials (customer_id, platform, account, status, sealed, refreshable, created_at, updated_at)
     values ($1, 'telegram', 'bot 1', 'connected', '', false, now(), now())`,
    [CUSTOMER],
  );

  await erasure.erase(CUSTOMER, holdProof);
  // Whoever sets something up at a platform holds the credential: it is waited for before the platforms forget.
  expect(credentialsThen).toEqual([0]);
  // Asked for twice, as by a second click.
  await erasure.erase(CUSTOMER, holdProof);
  const firstJob = await waitingJob();
  // By then it was looked at once at least, and put off.
  await expect.poll(waitingJob).toBeGreaterThan(firstJob);
  expect(await count('usage_daily')).toBe(1);
  expect(await count('invoices')).toBe(0);

  await database.query('update usage_daily set calls = calls + 1000 where customer_id = $1', [CUSTOMER]);
  await database.query('update usage_reservations set units = 0 where customer_id = $1', [CUSTOMER]);
  await expect.poll(invoicedCalls).toBe(51_000);
  await expect.poll(() => count('usage_daily')).toBe(0);
  expect(await count('usage_reservations')).toBe(0);
});
