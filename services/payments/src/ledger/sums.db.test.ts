import { randomBytes } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { newId } from '@libs/seal';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paymentsMigrations } from '../migrations.ts';
import { tenantOf } from '../tenant.ts';
import { checkLedger, createLedgerProofs } from './proofs.ts';
import { accountsOf, feesOf, keepSums } from './service.ts';

const MINUTE_MS = 60_000;
const now = new Date('2026-11-15T12:00:00Z');

let books: TestDatabase;
beforeAll(async () => {
  books = await createTestDatabase(paymentsMigrations());
});
afterAll(() => books.drop());

type Move = [
  kind: 'fund' | 'hold' | 'post' | 'release' | 'owe',
  amount: number,
  fee: number,
  agoMinutes: number,
];

const ACCOUNTS = {
  fund: ['outside_sources', 'outside_destinations'],
  hold: ['outside_sources', 'outside_destinations'],
  post: ['outside_sources', 'outside_destinations'],
  release: ['outside_sources', 'outside_destinations'],
  owe: ['owed:pm_a', 'outside_sources'],
} as const;

let tenants = 0;

async function bookAll(moves: readonly Move[]) {
  tenants += 1;
  const tenant = tenantOf(`org_${tenants}`, 'test');
  for (const [index, [kind, amount, fee, agoMinutes]] of moves.entries()) {
    const id = newId('lt', now.getTime() - agoMinutes * MINUTE_MS, randomBytes);
    await books.database.query(
      `insert into ledger_transfers (tenant_id, id, payment_id, kind, debit_account, credit_account, amount, fee, created_at, rail)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'rtp')`,
      [
        ...[tenant.id, id, kind === 'fund' ? null : `pay_${index}`, kind, ...ACCOUNTS[kind], amount],
        ...[kind === 'post' ? fee : 0, now],
      ],
    );
  }
  return tenant;
}

const accounts = (tenant: ReturnType<typeof tenantOf>) =>
  accountsOf(books.database, tenant, { afterId: null, limit: 100, now });

const fees = (tenant: ReturnType<typeof tenantOf>) =>
  feesOf(books.database, tenant, { month: '2026-11', now });

const move: fc.Arbitrary<Move> = fc.tuple(
  fc.constantFrom('fund', 'hold', 'post', 'release', 'owe'),
  fc.integer({ min: 1, max: 1_000_000 }),
  fc.integer({ min: 0, max: 100 }),
  fc.integer({ min: 0, max: 60 }),
);

test('kept sums and what came since are what all transfers add up to, however often they are brought up to date', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 12 }), async (moves) => {
      const tenant = await bookAll(moves);
      const before = [await accounts(tenant), await fees(tenant)];
      const later = new Date(now.getTime() - 20 * MINUTE_MS);
      for (const at of [later, now, now]) {
        await keepSums(books.database, tenant, { now: at, atLeast: 1 });
        expect([await accounts(tenant), await fees(tenant)]).toEqual(before);
      }
      const { checks } = await checkLedger(books.database, tenant, now);
      expect(checks.find(({ name }) => name === 'sums_match_entries')).toMatchObject({ ok: true });
    }),
    { numRuns: 15 },
  );
});

test('what is younger than a transaction can be stays out of the sums, and a wrong sum is found', async () => {
  const tenant = await bookAll([
    ['fund', 500, 0, 30],
    ['fund', 70, 0, 1],
  ]);
  await keepSums(books.database, tenant, { now, atLeast: 1 });
  const { rows } = await books.database.query(
    `select posted from ledger_sums where tenant_id = $1 and account = 'outside_destinations'`,
    [tenant.id],
  );
  expect(rows).toEqual([{ posted: 500 }]);
  await books.database.query('update ledger_sums set posted = posted + 1 where tenant_id = $1', [tenant.id]);
  const { ok, checks } = await checkLedger(books.database, tenant, now);
  expect([ok, checks.find(({ name }) => name === 'sums_match_entries')?.ok]).toEqual([false, false]);
});

test('large books answer with their last proof, of which a new one is made behind, unless it found something or is old', async () => {
  const { database } = books;
  const tenant = await bookAll([['fund', 500, 0, 30]]);
  const right = { name: 'entries_sum_to_zero', wrong: 0, example: null };
  const keep = (checks: object[], transfers: number) =>
    database.query(
      `insert into ledger_proofs (tenant_id, checked_at, transfers, took_ms, checks) values ($1, $2, $3, 5000, $4)
       on conflict (tenant_id) do update set transfers = excluded.transfers, checks = excluded.checks`,
      [tenant.id, now, transfers, JSON.stringify(checks)],
    );
  const checkedAt = async (afterMs: number) =>
    (await checkLedger(database, tenant, new Date(now.getTime() + afterMs))).checked_at;
  const asked = async () => {
    const { rows } = await database.query(`delete from jobs where name = 'ledger.prove' returning payload`);
    return rows.map(({ payload }) => payload);
  };
  await keep([right], 2_000_000);
  expect(await checkedAt(299_000)).toBe(now.toISOString());
  expect(await asked()).toEqual([]);
  for (const afterMs of [301_000, 302_000]) expect(await checkedAt(afterMs)).toBe(now.toISOString());
  expect(await asked()).toEqual([{ tenant_id: tenant.id }]);
  expect(await checkedAt(24 * 60 * MINUTE_MS)).not.toBe(now.toISOString());
  await keep([{ ...right, wrong: 1, example: 'x' }], 2_000_000);
  expect(await checkedAt(1_000)).not.toBe(now.toISOString());
  await keep([right], 99_999);
  expect(await checkedAt(1_000)).not.toBe(now.toISOString());
});

test('proofs of large books are renewed before they are old', async () => {
  const { database } = books;
  const [old, young] = [await bookAll([['fund', 500, 0, 30]]), await bookAll([['fund', 500, 0, 30]])];
  const hoursAgo = (hours: number) => new Date(now.getTime() - hours * 60 * MINUTE_MS);
  await database.query(`delete from ledger_proofs`);
  for (const [{ id }, hours] of [
    [old, 13],
    [young, 11],
  ] as const)
    await database.query(
      `insert into ledger_proofs (tenant_id, checked_at, transfers, took_ms, checks) values ($1, $2, 100000, 1, '[]')`,
      [id, hoursAgo(hours)],
    );
  const { handlers, cron } = createLedgerProofs({ database, now: () => now });
  const run = (name: string, payload: unknown, signal = new AbortController().signal) =>
    handlers
      .find((handler) => handler.name === name)
      ?.handle([{ id: 1, name, payload, key: null, attempt: 1 }], { signal });
  await run(cron.name, null);
  const { rows } = await database.query<{ name: string; payload: unknown }>(
    'delete from jobs returning name, payload',
  );
  expect(rows).toEqual([{ name: 'ledger.prove', payload: { tenant_id: old.id } }]);
  await expect(run('ledger.prove', rows[0]?.payload, AbortSignal.abort())).rejects.toThrow(/aborted/);
  await run('ledger.prove', rows[0]?.payload);
});
