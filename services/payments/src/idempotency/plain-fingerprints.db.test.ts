// What an earlier version kept is answered as before, and account numbers in it are not found by trying.
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { createSealer } from '@libs/seal';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { paymentsMigrations } from '../migrations.ts';
import { contextOf } from './kept-answer.ts';
import { fingerprintOf } from './key.ts';
import { createIdempotency } from './service.ts';
import { insertResponse, type KeyPlace } from './store.ts';

const ACCOUNTS = '/v1/payment_methods';
const DAY_MS = 86_400_000;
const LIMIT = 1_000;

const sealer = createSealer({ keys: [Buffer.alloc(32, 1)] });
const stranger = createSealer({ keys: [Buffer.alloc(32, 9)] });

let opened: TestDatabase;
let nowMs: number;

beforeAll(async () => {
  opened = await createTestDatabase(paymentsMigrations());
});
beforeEach(async () => {
  nowMs = Date.UTC(2026, 10, 16);
  await opened.database.query('truncate payments.idempotency_keys');
});
afterAll(() => opened.drop());

function idempotency() {
  const { database } = opened;
  return createIdempotency({
    databases: { live: database, test: database },
    sealer,
    now: () => new Date(nowMs),
  });
}

const answerTo = (key: string) => JSON.stringify({ id: `pm_${key}` });

/** As the version before kept it. */
function keepPlainly({ tenantId = 'org_a.test', path = ACCOUNTS, key = 'k' }, by = sealer): Promise<void> {
  const place = { tenantId, path, key };
  return insertResponse(opened.database, place, {
    fingerprint: fingerprintOf({ number: key }),
    status: 201,
    responseSealed: by.seal(answerTo(key), contextOf(place)),
    createdAt: new Date(nowMs),
  });
}

async function plainKeys(): Promise<string[]> {
  const { rows } = await opened.database.query<{ key: string }>(
    'select key from payments.idempotency_keys where octet_length(fingerprint) > 0 order by key',
  );
  return rows.map(({ key }) => key);
}

async function seal({ sealFingerprints } = idempotency()): Promise<number> {
  let turns = 1;
  while ((await sealFingerprints(LIMIT)) === LIMIT) turns += 1;
  return turns;
}

function repeat({ tenantId = 'org_a.test', path = ACCOUNTS, key }: Partial<KeyPlace> & { key: string }) {
  const request = { tenantId, mode: 'test', path, key, before: null } as const;
  const work = () => Promise.reject(new Error('it was done before'));
  return (body: unknown) => idempotency().once({ ...request, body }, work);
}

test('a key of the version before is answered as it was, before its fingerprint is sealed and after', async () => {
  await keepPlainly({ key: 'old' });
  const sendAgain = repeat({ key: 'old' });
  const expectTheSame = async () => {
    expect(await sendAgain({ number: 'old' })).toEqual({
      status: 201,
      body: answerTo('old'),
      replayed: true,
    });
    await expect(sendAgain({ number: 'other' })).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  };
  await expectTheSame();
  await seal();
  expect(await plainKeys()).toEqual([]);
  await expectTheSame();
});

test('every one of every tenant is sealed, in turns of a bounded number; other paths stay', async () => {
  const many = Array.from({ length: 450 }, (_, n) => `a${String(n).padStart(3, '0')}`);
  for (const key of many) await keepPlainly({ key });
  for (const n of Array.from({ length: 12 }).keys())
    await keepPlainly({ tenantId: `org_b${n}.live`, key: 'b' });
  await keepPlainly({ tenantId: 'org_c.live', path: '/v1/payments/quote', key: 'c' });
  // Three pages of the first tenant and one for each of the others, five to a turn.
  expect(await seal()).toBe(4);
  expect(await plainKeys()).toEqual(['c']);
  expect((await repeat({ key: 'a449' })({ number: 'a449' })).body).toBe(answerTo('a449'));
});

test('what no key opens holds up no other', async () => {
  await keepPlainly({ key: 'lost' }, stranger);
  await keepPlainly({ key: 'near' });
  await seal();
  expect(await plainKeys()).toEqual(['lost']);
});

test('a process of the version before that ran on is cleared up after, within a day', async () => {
  const running = idempotency();
  await seal(running);
  await keepPlainly({ key: 'late' });
  await seal(running);
  expect(await plainKeys()).toEqual(['late']);
  nowMs += DAY_MS;
  await seal(running);
  expect(await plainKeys()).toEqual([]);
});
