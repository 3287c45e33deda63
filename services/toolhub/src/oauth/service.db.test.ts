import { randomBytes } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { createSealer, hashToken } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrationSource } from '../schema.ts';
import { upsertGrant } from './grants-store.ts';
import { OWN_CLIENT_ID } from './provider/own-client.ts';
import { createOAuthService } from './service.ts';
import { insertOAuthToken } from './store.ts';

const NOW = new Date('2026-06-01T12:00:00Z');
const LATER = new Date('2026-06-02T12:00:00Z');
let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
  await db.database.query(
    `insert into customers (id, email, name, password_hash, created_at) values ('cus_1', 'a@b.example', 'A', 'x', $1)`,
    [NOW],
  );
});
afterAll(() => db.drop());

async function holderOf(clientId: string, grantId: string) {
  const oauth = createOAuthService({
    ...{ database: db.database, publicUrl: 'https://hub.example', randomBytes, now: () => NOW },
    sealer: createSealer({ keys: [randomBytes(32)] }),
    revocations: { transaction: () => Promise.reject(new Error('not called')) },
  });
  const shared = { customerId: 'cus_1', clientId, payload: {}, createdAt: NOW, expiresAt: LATER };
  await upsertGrant(db.database, { ...shared, id: grantId });
  await insertOAuthToken(db.database, {
    ...{ ...shared, id: `oat_${grantId}`, tokenHash: hashToken(grantId), kind: 'access', grantId },
    ...{ scopes: ['tools:read'], audience: null },
  });
  return (await oauth.clientOf({ customerId: 'cus_1', id: `oat_${grantId}` }))?.id;
}

test('[TH-11] what is remembered of a client holds for all its consents, and of the platform’s own for one alone', async () => {
  expect([await holderOf('cli_laptop', 'grant_1'), await holderOf('cli_laptop', 'grant_2')]).toEqual([
    'cli_laptop',
    'cli_laptop',
  ]);
  // Every assistant that is set up by hand shares it: what one of them may do is no other's.
  expect([await holderOf(OWN_CLIENT_ID, 'grant_3'), await holderOf(OWN_CLIENT_ID, 'grant_4')]).toEqual([
    'grant_3',
    'grant_4',
  ]);
});
