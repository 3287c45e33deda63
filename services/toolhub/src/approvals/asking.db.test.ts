// A call that waits already is made again and again by clients that wait for it: that must cost little.
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { createSealer } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashArguments } from '../calls/arguments-hash.ts';
import { createArgumentsMarks } from '../calls/arguments-mark.ts';
import { addCustomer } from '../invoices/test/rig.ts';
import { migrationSource } from '../schema.ts';
import { NO_RULES } from './approval.ts';
import { type ApprovalsDependencies, type AskingCall, createApprovals } from './service.ts';
import { writeRules } from './store.ts';

const now = () => new Date('2026-11-18T10:00:00Z');
const marksUnder = (keys: number[]) =>
  createArgumentsMarks(createSealer({ keys: keys.map((byte) => Buffer.alloc(32, byte)) }));
let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
});
afterAll(() => db?.drop());

/** Of a new customer, and how often what would be sent was sealed. */
async function startAsking(): Promise<{
  ask(text: string, asked?: { keys?: number[]; approvalId?: string | null }): Promise<unknown>;
  sealed(): number;
  customerId: string;
}> {
  const customerId = await addCustomer(db.database);
  const rules = { customerId, send: true, deletion: true, tools: {}, at: now() };
  await writeRules(db.database, rules);
  let sealed = 0;
  const passUnder = (keys: number[]) =>
    createApprovals({
      ...{
        database: db.database,
        now,
        marks: marksUnder(keys),
        newId: (prefix: string) => `${prefix}_${sealed}`,
      },
      vault: {
        async seal() {
          sealed += 1;
          return Buffer.from('sealed');
        },
      },
      mails: { plan: async () => {} },
      rulesOf: () => ({ ...NO_RULES, send: true }),
      clientOf: async () => ({ id: 'tok_1', name: 'test' }),
      hasBegun: async () => false,
    } as unknown as ApprovalsDependencies).pass;
  const call = {
    session: { kind: 'customer', via: 'token', customerId },
    tool: { name: 'alpha_send_note', platform: 'alpha', class: 'W', wire: { inputSchema: {} } },
    key: null,
  };
  return {
    ask: async (text, { keys = [1], approvalId = null } = {}) =>
      passUnder(keys)({ ...call, approvalId, args: { text } } as unknown as AskingCall),
    sealed: () => sealed,
    customerId,
  };
}

test('what would be sent is sealed once, however often the call comes while it waits', async () => {
  const { ask, sealed } = await startAsking();
  expect(await ask('hello')).toMatchObject({ kind: 'waits', isNew: true });
  expect(await ask('hello')).toMatchObject({ kind: 'waits', isNew: false });
  expect(sealed()).toBe(1);
});

test('[TH-13.14] of a call beyond the limit nothing is sealed', async () => {
  const { ask, sealed } = await startAsking();
  for (let call = 0; call < 100; call += 1)
    expect(await ask(`call ${call}`)).toMatchObject({ kind: 'waits', isNew: true });
  expect(await ask('one more')).toEqual({ kind: 'too_many_wait' });
  expect(await ask('call 7')).toMatchObject({ kind: 'waits', isNew: false });
  expect(sealed()).toBe(100);
});

test('[TH-3.9] a call that is about to be noted while the account is taken back waits for nobody', async () => {
  const { ask, customerId } = await startAsking();
  await db.database.query('delete from approval_rules where customer_id = $1', [customerId]);
  expect(await ask('hello')).toEqual({ kind: 'denied' });
  const noted = await db.database.query('select 1 from approvals where customer_id = $1', [customerId]);
  expect(noted.rowCount).toBe(0);
});

test('what would be sent is not told by its mark to whoever tries all that it may be', async () => {
  const { ask, customerId } = await startAsking();
  await ask('1234');
  const { rows } = await db.database.query<{ arguments_hash: Buffer }>(
    'select arguments_hash from approvals where customer_id = $1',
    [customerId],
  );
  const guess = await hashArguments({ text: '1234' });
  expect(rows.map((row) => row.arguments_hash.equals(guess))).toEqual([false]);
});

test('a call that waits is known again while keys rotate, and when the version before noted it', async () => {
  const { ask, customerId } = await startAsking();
  const { approval } = (await ask('1234')) as { approval: { id: string } };
  const waits = { kind: 'waits', isNew: false, approval: { id: approval.id } };
  const expectKnown = async () => {
    for (const approvalId of [null, approval.id]) {
      expect(await ask('1234', { keys: [2, 1], approvalId })).toMatchObject(waits);
      expect(await ask('1234', { keys: [1], approvalId })).toMatchObject(waits);
    }
    const other = await ask('1235', { keys: [2, 1], approvalId: approval.id });
    expect(other).toEqual({ kind: 'other_call', pointer: '/approval_id' });
  };
  await expectKnown();
  await db.database.query('update approvals set arguments_hash = $2 where customer_id = $1', [
    customerId,
    await hashArguments({ text: '1234' }),
  ]);
  await expectKnown();
});
