/** The ordinary way keeps to the order in which all work of this rail locks. */
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paymentsMigrations } from '../../../migrations.ts';
import { type AcceptedTransfer, acceptFirst } from './ordinary-store.ts';
import { insertSubmissions } from './store.ts';

const TENANT = 'org_a.test';
const AT = new Date('2026-11-16T15:00:00Z');
let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase(paymentsMigrations());
});
afterAll(() => db.drop());

/** Two instructions that were handed over; the first comes first in the order. */
async function handOver(name: string): Promise<[first: AcceptedTransfer, second: AcceptedTransfer]> {
  const ids = [`${name}_1`, `${name}_2`];
  const submissions = ids.map((id) => ({
    ...{ tenantId: TENANT, instructionId: id, paymentId: `pay_${id}`, attemptId: `att_${id}` },
    ...{ storedMessageId: `msg_${id}`, messageId: `M${id}`, amountCents: 500 },
    ...{ settlementDate: '2026-11-16' as const, packedSealed: Buffer.from('x'), createdAt: AT },
  }));
  await insertSubmissions(db.database, submissions, { firstSentAt: AT, dueAt: AT });
  const [first, second] = submissions.map(
    ({ instructionId, messageId, amountCents }): AcceptedTransfer => ({
      ...{ instructionId, messageId, amountCents, mode: 'test' },
    }),
  );
  return [first, second] as [AcceptedTransfer, AcceptedTransfer];
}

const lock = `select 1 from rtp_submissions where tenant_id = $1 and instruction_id = $2 for update`;

async function waitsForALock(): Promise<boolean> {
  const { rowCount } = await db.database.query(
    `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rowCount === 1;
}

/** Ends what it can while somebody else holds the first of the order: by then it holds nothing that comes after it. */
async function acceptBehind(
  [first, second]: readonly [AcceptedTransfer, AcceptedTransfer],
  accepted: readonly AcceptedTransfer[],
  others: readonly string[],
): Promise<string[]> {
  const { database } = db;
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = database.transaction(async (tx) => {
    await tx.query(lock, [TENANT, first.instructionId]);
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  const accepting = database.transaction((tx) => acceptFirst(tx, accepted, others));
  try {
    await expect.poll(waitsForALock).toBe(true);
    await database.query(`${lock} nowait`, [TENANT, second.instructionId]);
  } finally {
    released.resolve();
    await holding;
  }
  return (await accepting).map(({ instructionId }) => instructionId);
}

test('another report beside an acceptance is waited for in its place, though it ends nothing', async () => {
  const [first, second] = await handOver('beside');
  expect(await acceptBehind([first, second], [second], [first.instructionId])).toEqual([
    second.instructionId,
  ]);
});

test('so is an acceptance of what was asked after meanwhile', async () => {
  const [first, second] = await handOver('asked');
  await db.database.query(`update rtp_submissions set state = 'unknown' where instruction_id = $1`, [
    first.instructionId,
  ]);
  expect(await acceptBehind([first, second], [second, first], [])).toEqual([second.instructionId]);
});
