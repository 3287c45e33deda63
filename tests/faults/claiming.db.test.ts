// The connection breaks while a call claims its idempotency_key, or frees it: the key is nobody's, and the next call runs.

import { randomBytes } from 'node:crypto';
import { type Database, openDatabase } from '@libs/db';
import { connectionTo, createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { createIdFactory, createSealer } from '@libs/seal';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createHolder, type Holder } from '../../services/toolhub/src/billing/meter/holder.ts';
import { createArgumentsMarks } from '../../services/toolhub/src/calls/arguments-mark.ts';
import { createIdempotency, type Idempotency } from '../../services/toolhub/src/calls/idempotency.ts';
import { migrationSource, SCHEMA } from '../../services/toolhub/src/schema.ts';
import { type DatabaseWire, startDatabaseWire, type WireStep } from './database-wire.ts';

const newId = createIdFactory({ now: () => new Date(), randomBytes });
const marks = createArgumentsMarks(createSealer({ keys: [Buffer.alloc(32, 7)] }));
const failures: unknown[] = [];
let db: TestDatabase;
let wire: DatabaseWire;
let wired: Database;
let holder: Holder;
let cutAt: ((step: WireStep) => boolean) | undefined;
const opened: Idempotency[] = [];

beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
  const { url, directUrl } = connectionTo(db.url);
  wire = await startDatabaseWire(url, {
    isStopped(step) {
      if (!cutAt?.(step)) return false;
      cutAt = undefined;
      wire.isOpen = false;
      wire.cut();
      return true;
    },
  });
  wired = await openDatabase({ url: wire.url, directUrl, schema: SCHEMA, connectionsMax: 4 });
  holder = createHolder({
    ...{ database: db.database, newId, leaseMs: 3_600_000 },
    onError: (error) => void failures.push(error),
  });
});

afterEach(async () => {
  wire.isOpen = true;
  for (const idempotency of opened.splice(0)) await idempotency.close();
});

afterAll(async () => {
  await holder.close();
  await wired.close();
  await wire.stop();
  await db.drop();
});

/** The statements for tables that are spread over servers; one server takes them, too. */
const spread = (database: Database): Database => ({
  ...database,
  isSpread: true,
  transaction: (work, options) => database.transaction((tx) => work({ ...tx, isSpread: true }), options),
});

function newIdempotency(database: Database): Idempotency {
  const idempotency = createIdempotency({
    ...{ database, holder, marks, newId, waitMs: 0 },
    onError: (error) => void failures.push(error),
  });
  opened.push(idempotency);
  return idempotency;
}

const claim = (by: Idempotency, key: string) =>
  by.claim({
    ...{ customerId: 'cus_1', tool: 'alpha_send_note', key, args: {} },
    signal: new AbortController().signal,
  });
const isOf = (statement: string, when: WireStep['when']) => (step: WireStep) =>
  step.when === when && step.name.startsWith(statement);
const stored = async (key: string) =>
  (await db.database.query('select from idempotent_calls where key = $1', [key])).rowCount;

describe.each([
  { tables: 'on one server', over: (database: Database) => database },
  { tables: 'spread', over: spread },
])('tables $tables', ({ tables, over }) => {
  test.each(['before', 'after'] as const)(
    '[TH-5.9] cut %s the commit of a claim, the key is free for the next call, of any process',
    async (when) => {
      const mine = newIdempotency(over(wired));
      const others = newIdempotency(over(db.database));
      for (const [name, by] of Object.entries({ mine, others })) {
        const key = `${tables} ${when} ${name}`;
        cutAt = isOf('insert into idempotent_calls', when);
        await expect(claim(mine, key)).rejects.toThrow();
        await expect.poll(() => stored(key)).toBe(when === 'after' ? 1 : 0);
        wire.isOpen = true;
        await expect.poll(async () => (await claim(by, key)).kind).toBe('claimed');
        // The call runs now: its claim is its own, and stays.
        expect((await claim(by, key)).kind).toBe('running');
      }
    },
  );

  test.each(['before', 'after'] as const)(
    '[TH-5.9] cut %s the commit that frees a key, it is free',
    async (when) => {
      const mine = newIdempotency(over(wired));
      const key = `freed ${tables} ${when}`;
      const first = await claim(mine, key);
      if (first.kind !== 'claimed') throw new Error('nobody else has the key');
      cutAt = isOf('delete from idempotent_calls', when);
      await first.release();
      wire.isOpen = true;
      await expect.poll(async () => (await claim(mine, key)).kind).toBe('claimed');
    },
  );

  test('[TH-5.9] the end of the process frees it, too', async () => {
    const mine = newIdempotency(over(wired));
    const key = `ended ${tables}`;
    cutAt = isOf('insert into idempotent_calls', 'after');
    await expect(claim(mine, key)).rejects.toThrow();
    await expect.poll(() => stored(key)).toBe(1);
    wire.isOpen = true;
    await mine.close();
    expect(await stored(key)).toBe(0);
  });
});

test('a claim of the version before, over one of ours that has run out, is left to it', async () => {
  const mine = newIdempotency(wired);
  const key = 'of before';
  const first = await claim(mine, key);
  if (first.kind !== 'claimed') throw new Error('nobody else has the key');
  // What a process does that knows no marks.
  await db.database.query(
    `update idempotent_calls set holder = 'hld_before', expires_at = now() + interval '1 day' where key = $1`,
    [key],
  );
  await first.release();
  expect(await stored(key)).toBe(1);
});
