// The tables of the OAuth server: one use per code, revocation against issue, and what is cleared away when.
import { randomBytes } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { hashToken } from '@libs/seal';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { migrationSource } from '../schema.ts';
import { upsertClient } from './clients-store.ts';
import { deleteExpired } from './expiry-store.ts';
import { upsertGrant } from './grants-store.ts';
import { insertConnect, takeConnect, upsertInteraction } from './interactions-store.ts';
import {
  consumeCode,
  deleteFamily,
  findCode,
  findLiveAccessToken,
  insertCode,
  insertOAuthToken,
} from './store.ts';

const NOW = new Date('2026-06-01T12:00:00Z');
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const at = (offsetMs: number) => new Date(NOW.getTime() + offsetMs);

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
  await db.database.query(
    `insert into customers (id, email, name, password_hash, created_at) values ('cus_1', 'a@b.example', 'A', 'x', now())`,
  );
});

afterAll(() => db.drop());

beforeEach(async () => {
  await db.database.query(
    'truncate oauth_grants, oauth_tokens, oauth_auth_codes, oauth_interactions, oauth_connects, oauth_clients',
  );
});

const addGrant = (id: string, createdAt = NOW) =>
  upsertGrant(db.database, {
    customerId: 'cus_1',
    id,
    clientId: 'client',
    payload: {},
    createdAt,
    expiresAt: at(1_000 * DAY_MS),
  });

const addCode = (name: string, expiresAt: Date, clientId = 'client') =>
  insertCode(db.database, {
    customerId: 'cus_1',
    codeHash: hashToken(name),
    grantId: `grant_${name}`,
    clientId,
    redirectUri: 'http://localhost/cb',
    payload: {},
    createdAt: NOW,
    expiresAt,
  });

const addToken = (name: string, grantId: string, expiresAt = at(HOUR_MS)) =>
  insertOAuthToken(db.database, {
    customerId: 'cus_1',
    id: `oat_${name}`,
    tokenHash: hashToken(name),
    kind: 'access',
    grantId,
    clientId: 'client',
    scopes: ['tools:read'],
    audience: null,
    payload: {},
    createdAt: NOW,
    expiresAt,
  });

test('[TH-4] of many parallel uses of a code one changes the row', async () => {
  await addCode('a', at(60_000));
  const uses = await Promise.all(
    Array.from({ length: 30 }, () => consumeCode(db.database, hashToken('a'), NOW)),
  );
  expect(uses.filter(Boolean)).toHaveLength(1);
  expect(await findCode(db.database, hashToken('a'))).toMatchObject({ used: true, usedAt: NOW });
});

test('[TH-4] a token that is made while its grant is revoked is revoked with it, or never made', async () => {
  for (let round = 0; round < 20; round += 1) {
    const grantId = `grant_${round}`;
    await addGrant(grantId);
    const [made] = await Promise.all([
      addToken(String(round), grantId),
      db.database.transaction((tx) => deleteFamily(tx, grantId)),
    ]);
    expect(typeof made).toBe('boolean');
    expect(await findLiveAccessToken(db.database, hashToken(String(round)), NOW)).toBeUndefined();
  }
  expect(await addToken('late', 'grant_0')).toBe(false);
});

test('[TH-4] a state of the connector works once, and not when it is old', async () => {
  const add = (name: string, expiresAt: Date) =>
    insertConnect(db.database, { stateHash: hashToken(name), sealedVerifier: randomBytes(8), expiresAt });
  await add('good', at(1_000));
  await add('old', at(-1_000));
  const uses = await Promise.all([1, 2, 3].map(() => takeConnect(db.database, hashToken('good'), NOW)));
  expect(uses.filter((use) => use !== undefined)).toHaveLength(1);
  expect(await takeConnect(db.database, hashToken('old'), NOW)).toBeUndefined();
});

test('[TH-4] what no answer depends on any more is cleared away, and nothing else', async () => {
  await addGrant('grant_live', at(-40 * DAY_MS));
  await addGrant('grant_dead', at(-40 * DAY_MS));
  // Its code may still be on the way.
  await addGrant('grant_new', at(-HOUR_MS / 2));
  await addGrant('grant_recent', at(-2 * HOUR_MS));
  await addToken('live', 'grant_live');
  await addToken('dead', 'grant_dead', at(-1_000));
  await addCode('yesterday', at(-25 * HOUR_MS));
  await addCode('recent', at(-HOUR_MS));
  for (const [name, expiresAt] of [
    ['open', at(1_000)],
    ['gone', at(-1_000)],
  ] as const)
    await upsertInteraction(db.database, { idHash: hashToken(name), payload: { name }, expiresAt });
  const client = { metadata: {}, redirectUris: [], secretHash: null };
  await upsertClient(db.database, { ...client, id: 'own', kind: 'own' }, at(-200 * DAY_MS));
  await upsertClient(db.database, { ...client, id: 'unused', kind: 'registered' }, at(-200 * DAY_MS));
  await upsertClient(db.database, { ...client, id: 'client', kind: 'registered' }, at(-200 * DAY_MS));
  await upsertClient(db.database, { ...client, id: 'used', kind: 'registered' }, at(-200 * DAY_MS));
  await upsertClient(db.database, { ...client, id: 'idle', kind: 'registered' }, at(-200 * DAY_MS));
  await upsertClient(db.database, { ...client, id: 'abandoned', kind: 'registered' }, at(-8 * DAY_MS));
  await upsertClient(db.database, { ...client, id: 'fresh', kind: 'registered' }, at(-6 * DAY_MS));
  await addCode('old', at(-25 * HOUR_MS), 'used');
  const usedAt = `update oauth_clients set last_used_at = $2 where id = $1`;
  await db.database.query(usedAt, ['used', at(-89 * DAY_MS)]);
  await db.database.query(usedAt, ['idle', at(-91 * DAY_MS)]);

  await deleteExpired(db.database, NOW);

  const left = async (sql: string) =>
    (await db.database.query<{ name: string }>(sql)).rows.map(({ name }) => name).sort();
  expect(await left('select id as name from oauth_tokens')).toEqual(['oat_live']);
  expect(await left('select grant_id as name from oauth_auth_codes')).toEqual(['grant_recent']);
  expect(await left('select id as name from oauth_grants')).toEqual([
    'grant_live',
    'grant_new',
    'grant_recent',
  ]);
  expect(await left(`select payload ->> 'name' as name from oauth_interactions`)).toEqual(['open']);
  expect(await left('select id as name from oauth_clients')).toEqual(['client', 'fresh', 'own', 'used']);
});
