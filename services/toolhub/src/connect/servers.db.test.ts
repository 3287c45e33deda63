// What this service is registered as at a server that a customer named, and what becomes of it where it cannot be opened.
import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { createSealer } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrationSource } from '../schema.ts';
import { createServers, type ServerAsked } from './servers.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
});
afterAll(() => db.drop());

const clock = { ms: Date.parse('2026-11-01T10:00:00Z') };
const right = createSealer({ keys: [Buffer.alloc(32, 1)] });
const wrong = createSealer({ keys: [Buffer.alloc(32, 2)] });
let registered = 0;

const asked = {
  ...{ platform: 'mastodon', server: 'https://social.example', address: 'https://social.example' },
  ...{ redirectUri: 'https://hub.example/callback', website: 'https://hub.example', fetch },
  provider: {
    ...{ authorizeUrl: '/authorize', tokenUrl: '/token' },
    perServer: {
      parameter: 'server',
      isRegistered: async () => true,
      async register() {
        registered += 1;
        return { clientId: `client ${registered}`, clientSecret: 'secret' };
      },
    },
  },
} as unknown as ServerAsked;

const serversOf = (sealer: typeof right, lostKeyIds: readonly string[] = []) =>
  createServers({
    ...{ database: db.database, sealer, lostKeyIds, newLeaseId: randomUUID, now: () => new Date(clock.ms) },
  });

test('[TH-6.10] a process that lacks the key of a registration does not write another over it', async () => {
  expect((await serversOf(right).clientAt(asked)).clientId).toBe('client 1');
  await expect(serversOf(wrong).clientAt(asked)).rejects.toThrow(/key/);
  // Nor once it is looked at anew; and whoever has the key need not wait for who has not.
  clock.ms += 24 * 60 * 60_000;
  await expect(serversOf(wrong).clientAt(asked)).rejects.toThrow(/key/);
  expect((await serversOf(right).clientAt(asked)).clientId).toBe('client 1');
  expect((await serversOf(wrong, [right.keyIds[0]]).clientAt(asked)).clientId).toBe('client 2');
});
