// What a renewal does with a pair that the platform has given out while the database is away.
import { randomUUID } from 'node:crypto';
import type { Database } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { createSealer } from '@libs/seal';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { migrationSource } from '../schema.ts';
import type { CredentialRow } from './credential.ts';
import { createRenewal } from './renewal.ts';
import { findCredential } from './store.ts';
import { createRig, sessionOf } from './test/rig.ts';
import { createRotatingPlatform, type RotatingPlatform } from './test/rotating-platform.ts';
import { createVault } from './vault.ts';

const KEY = Buffer.alloc(32, 1);
const now = () => new Date();
let db: TestDatabase;
let platform: RotatingPlatform;
let row: CredentialRow;
let customers = 0;

beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
});
afterAll(() => db.drop());

beforeEach(async () => {
  platform = createRotatingPlatform(now);
  customers += 1;
  const key = { customerId: `cus_${customers}`, platform: 'rotating', slot: '' };
  const expires_at = new Date(Date.now() - 60_000).toISOString();
  await rig().credentials.put({
    ...{ ...key, verify: false, standing: async () => {} },
    credential: { access_token: 'access-0', refresh_token: 'refresh-0', expires_at },
  });
  row = (await findCredential(db.database, key)) as CredentialRow;
});

const rig = () => createRig({ database: db.database, connectors: [platform.connector], now, keys: [KEY] });

interface Outage {
  error: Error;
  tries: number;
  /** Each try is written, and only the answer is lost. */
  isWritten?: boolean;
}

const refusedConnection = () =>
  Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });

/** From the platform's answer on, so many statements meet the outage. */
function renewDuring(
  { error, tries, isWritten = false }: Outage,
  { leaseMs = 60_000, isSpread = false } = {},
) {
  const { connectors } = rig();
  let left = 0;
  platform.during = async () => {
    left = tries;
  };
  const query: Database['query'] = async (...statement: Parameters<Database['query']>) => {
    if (left === 0) return db.database.query(...statement);
    left -= 1;
    if (isWritten) await db.database.query(...statement);
    throw error;
  };
  const renewal = createRenewal({
    ...{ database: { ...db.database, query, isSpread }, connectors, now },
    vault: createVault(createSealer({ keys: [KEY] })),
    audit: { recordIn: async () => {} },
    ...{ emitEvent: async () => '', newLeaseId: randomUUID, leaseMs, awayPauseMs: 5 },
  });
  return renewal.renew(row, { isRefused: false });
}

const open = () => rig().credentials.open({ session: sessionOf(row.customerId), platform: 'rotating' });

test.each([
  ['the database is away', refusedConnection(), false],
  [
    'the server of the customer is, where tables are spread',
    Object.assign(new Error('x'), { code: 'XX000' }),
    true,
  ],
])('[TH-6.5] a renewed pair is kept until it can be stored: %s', async (_what, error, isSpread) => {
  expect(await renewDuring({ error, tries: 30 }, { isSpread })).toMatchObject({
    ...{ kind: 'ok', opened: { credential: { access_token: 'access-1' } } },
  });
  expect(await open()).toMatchObject({ opened: { credential: { refresh_token: 'refresh-1' } } });
  expect(platform).toMatchObject({ refreshes: 1, reused: 0 });
});

test('[TH-6.5] one that was stored, though no answer came, is found', async () => {
  const outage = { error: refusedConnection(), tries: 30, isWritten: true };
  expect(await renewDuring(outage)).toEqual({ kind: 'changed' });
  expect(await open()).toMatchObject({ opened: { credential: { refresh_token: 'refresh-1' } } });
  expect(platform).toMatchObject({ refreshes: 1, reused: 0 });
});

test('a database that stays away ends the renewal with its lease', async () => {
  const outage = { error: refusedConnection(), tries: Number.POSITIVE_INFINITY };
  await expect(renewDuring(outage, { leaseMs: 200 })).rejects.toThrow(/ECONNREFUSED/);
});
