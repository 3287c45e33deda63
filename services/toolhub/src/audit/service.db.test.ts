// The audit log: entries of concurrent calls go out together, and none is lost while the database is away.
import { randomBytes } from 'node:crypto';
import type { Database, Queryable } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { createIdFactory } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrationSource } from '../schema.ts';
import type { NewAuditEntry } from './entry.ts';
import { createAuditService } from './service.ts';

let database: TestDatabase;
const now = () => new Date();
const newId = createIdFactory({ now, randomBytes });

beforeAll(async () => {
  database = await createTestDatabase(migrationSource);
});

afterAll(() => database.drop());

function entryOf(customerId: string, target: string): NewAuditEntry {
  return {
    customerId,
    actor: { type: 'customer', id: customerId },
    action: 'test',
    target,
    outcome: 'success',
    ip: '203.0.113.7',
    requestId: 'req_1',
  };
}

function counting(
  inner: Database,
): Queryable & Pick<Database, 'serverOf'> & { statements: number; failures: number } {
  const proxy = {
    statements: 0,
    failures: 0,
    serverOf: inner.serverOf,
    query: (async (statement: never, values: never) => {
      proxy.statements += 1;
      if (proxy.failures > 0) {
        proxy.failures -= 1;
        throw new Error('connection lost');
      }
      return inner.query(statement, values);
    }) as Queryable['query'],
  };
  return proxy;
}

test('[TH-12] a thousand concurrent entries are written by few statements, in order', async () => {
  const db = counting(database.database);
  const audit = createAuditService({ database: db, newId, now, onError: () => {} });
  await Promise.all(
    Array.from({ length: 1_000 }, (_, index) => audit.record([entryOf('cus_many', String(index))])),
  );
  expect(db.statements).toBeLessThanOrEqual(3);
  const { entries: newest, next: position } = await audit.list({ customerId: 'cus_many', limit: 3 });
  expect(newest.map(({ target }) => target)).toEqual(['999', '998', '997']);
  const next = await audit.list({ customerId: 'cus_many', before: position, limit: 1 });
  expect(next.entries[0]).toMatchObject({
    ...entryOf('cus_many', '996'),
    id: expect.stringMatching(/^aud_/),
  });
});

test('[TH-12] entries survive a database that is away for a moment', async () => {
  const db = counting(database.database);
  db.failures = 2;
  const reported: unknown[] = [];
  const audit = createAuditService({ database: db, newId, now, onError: (error) => reported.push(error) });
  await Promise.all([audit.record([entryOf('cus_away', 'a')]), audit.record([entryOf('cus_away', 'b')])]);
  expect(reported).toHaveLength(2);
  const { entries: stored } = await audit.list({ customerId: 'cus_away', limit: 10 });
  expect(stored.map(({ target }) => target)).toEqual(['b', 'a']);
});

test('[TH-12] closing waits for what still has to be written', async () => {
  const audit = createAuditService({ database: database.database, newId, now, onError: () => {} });
  void audit.record([entryOf('cus_close', 'last')]);
  await audit.close();
  expect((await audit.list({ customerId: 'cus_close', limit: 10 })).entries).toHaveLength(1);
});

test('[TH-12] without a database the queue is bounded, and what is given up is reported', async () => {
  const db = counting(database.database);
  db.failures = Number.POSITIVE_INFINITY;
  let dropped = 0;
  const audit = createAuditService({
    database: db,
    newId,
    now,
    onError: (_error, context) => {
      dropped += context.dropped;
    },
  });
  const batch = Array.from({ length: 500 }, (_, index) => entryOf('cus_full', String(index)));
  for (let count = 0; count < 110; count += 1) void audit.record(batch);
  expect(dropped).toBeGreaterThanOrEqual(4_000);
  db.failures = 0;
  await audit.close();
  const { rows } = await database.database.query<{ count: number }>(
    `select count(*)::int as count from audit_entries where customer_id = 'cus_full'`,
  );
  expect((rows[0]?.count ?? 0) + dropped).toBe(55_000);
});

test('[TH-12] one entry that cannot be stored keeps back none beside or behind it', async () => {
  const dropped: number[] = [];
  const audit = createAuditService({
    ...{ database: database.database, newId, now },
    onError: (_error, context) => dropped.push(context.dropped),
  });
  const bad = { ...entryOf('cus_bad', 'bad'), outcome: null as never };
  const nul = entryOf('cus_bad', 'a\0b\ud800');
  await Promise.all([
    audit.record([entryOf('cus_bad', 'before'), nul]),
    audit.record([bad]),
    audit.record([entryOf('cus_bad', 'behind')]),
  ]);
  await audit.record([entryOf('cus_bad', 'later')]);
  await audit.close();
  const { entries: listed } = await audit.list({ customerId: 'cus_bad', limit: 10 });
  expect(listed.map(({ target }) => target)).toEqual(['later', 'behind', 'a\ufffdb\ufffd', 'before']);
  expect(dropped).toEqual([1]);
});

test('[TH-12] a filter looks through a bounded part of a long log, and says where it goes on', async () => {
  const audit = createAuditService({ database: database.database, newId, now, onError: () => {} });
  const odd = { ...entryOf('cus_long', 'needle'), outcome: 'failure' as const };
  await audit.record([odd]);
  const hay = Array.from({ length: 1_000 }, (_, index) => entryOf('cus_long', String(index)));
  for (let batch = 0; batch < 11; batch += 1) await audit.record(hay);
  const first = await audit.list({ customerId: 'cus_long', outcome: 'failure', limit: 20 });
  expect(first.entries).toEqual([]);
  const second = await audit.list({
    customerId: 'cus_long',
    outcome: 'failure',
    before: first.next,
    limit: 20,
  });
  expect(second).toMatchObject({ entries: [{ target: 'needle' }], next: null });
  const page = await audit.list({ customerId: 'cus_long', target: '7', limit: 3 });
  expect(page.entries.map(({ target }) => target)).toEqual(['7', '7', '7']);
  expect(page.next).toBe(page.entries.at(-1)?.id);
});

test('[TH-12] where tables are spread, a server that is away keeps back the entries of its own customers alone', async () => {
  let isAway = true;
  const { query } = database.database;
  const partly: Queryable & Pick<Database, 'serverOf'> = {
    isSpread: true,
    serverOf: async (customerId) => customerId,
    query: async (statement, values = []) => {
      const isHeld = isAway && values.flat().includes('cus_held');
      if (isHeld) throw Object.assign(new Error('connection to the remote node x failed'), { code: '08006' });
      return query(statement, values);
    },
  };
  const audit = createAuditService({ database: partly, newId, now, onError: () => {} });
  const held = audit.record([entryOf('cus_held', 'first')]);
  await audit.record([entryOf('cus_free', 'meanwhile')]);
  const targetsOf = async (customerId: string) =>
    (await audit.list({ customerId, limit: 10 })).entries.map(({ target }) => target);
  expect(await targetsOf('cus_free')).toEqual(['meanwhile']);
  isAway = false;
  await held;
  expect(await targetsOf('cus_held')).toEqual(['first']);
});
