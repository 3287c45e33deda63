// What a waiting call would send may be megabytes: who asks how it stands reads none of it.
import type { Queryable } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { createSealer } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addCustomer } from '../invoices/test/rig.ts';
import { migrationSource } from '../schema.ts';
import { createArgumentsVault } from './arguments.ts';
import { createShownArguments } from './shown-arguments.ts';
import {
  findApproval,
  findByKey,
  findSamePending,
  insertApproval,
  listApprovals,
  lockApproval,
} from './store.ts';

const at = new Date('2026-11-18T10:00:00Z');
const argumentsHash = Buffer.alloc(32, 1);
const LONG = { to: 'ada', text: 'x y '.repeat(25_000), files: ['y'.repeat(1_000_000)] };
const SCHEMA = {
  properties: { files: { type: 'array', items: { type: 'string', contentEncoding: 'base64' } } },
};
const SHORT = { to: 'ada', text: 'hello' };
const sealer = createSealer({ keys: [Buffer.alloc(32, 9)] });
const vault = createArgumentsVault(sealer);
let db: TestDatabase;
let customerId: string;
let bytesRead = 0;
let counting: Queryable;

beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
  const { database } = db;
  customerId = await addCustomer(database);
  counting = Object.create(database, {
    query: {
      value: async (...given: Parameters<Queryable['query']>) => {
        const answer = await database.query<Record<string, unknown>>(...given);
        for (const value of answer.rows.flatMap((row) => Object.values(row)))
          if (Buffer.isBuffer(value)) bytesRead += value.length;
        return answer;
      },
    },
  });
  for (const [id, args] of [
    ['apr_long', LONG],
    ['apr_short', SHORT],
  ] as const)
    await insertApproval(database, {
      ...{
        customerId,
        id,
        argumentsHash,
        sealedArguments: await vault.seal({ customerId, id }, args, SCHEMA),
        key: id,
      },
      ...{ client: { id: 'tok_1', name: 'test' }, tool: 'alpha_send_note', platform: 'alpha' },
      ...{ status: 'pending', usedKey: null, decidedAt: null },
      ...{ createdAt: at, expiresAt: new Date(at.getTime() + 3_600_000) },
    });
});
afterAll(() => db?.drop());

test('a call that comes again, and a decision, read nothing of what would be sent', async () => {
  const key = { customerId, id: 'apr_long' };
  const call = { customerId, tool: 'alpha_send_note', key: 'apr_long' };
  const found = [
    await findApproval(counting, key),
    await lockApproval(counting, key),
    await findByKey(counting, call),
    await findSamePending(counting, { ...call, client: 'tok_1', argumentsHashes: [argumentsHash], now: at }),
  ];
  expect(found.map((one) => one?.id)).toEqual(Array(4).fill('apr_long'));
  expect(bytesRead).toBe(4 * argumentsHash.length);
});

test('a list reads only what is short, and of long ones one after the other, for what is shown of them', async () => {
  const page = { customerId, status: undefined, before: undefined, limit: 10, now: at };
  const [short, long] = await listApprovals(counting, page);
  expect([short?.id, short?.sealedArguments]).toEqual(['apr_short', expect.any(Buffer)]);
  expect([long?.id, long?.sealedArguments]).toEqual(['apr_long', null]);
  const shown = createShownArguments({ database: db.database, vault });
  const [first, second] = [await shown.abridged(short as never), await shown.abridged(long as never)];
  expect(first).toEqual({ value: SHORT, isCut: false, hasData: false });
  const cutFile = (characters: number) => `${'y'.repeat(characters)}… (1000000 characters)`;
  expect(second).toEqual({
    value: { to: 'ada', text: `${'x y '.repeat(500)}… (100000 characters)`, files: [cutFile(2_000)] },
    ...{ isCut: true, hasData: true },
  });
  expect(await shown.whole({ customerId, id: 'apr_long' })).toEqual({
    value: { ...LONG, files: [cutFile(2_000)] },
    ...{ isCut: false, hasData: true },
  });
});

test('one that was kept whole by the version before is shown whole, since nothing says what of it is data', async () => {
  const key = { customerId, id: 'apr_before' };
  const context = JSON.stringify(['approval', key.customerId, key.id]);
  const { whole, hasData, listed } = vault.open(key, sealer.seal(JSON.stringify(LONG), context)) ?? {};
  expect({ whole, hasData }).toEqual({ whole: { value: LONG, isCut: false }, hasData: false });
  expect(listed).toEqual(vault.open(key, await vault.seal(key, LONG, SCHEMA))?.listed);
});
