// A call that waits already is made again and again by clients that wait for it: that must cost little.
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashArguments } from '../calls/arguments-hash.ts';
import { addCustomer } from '../invoices/test/rig.ts';
import { migrationSource } from '../schema.ts';
import { NO_RULES } from './approval.ts';
import { type ApprovalsDependencies, createApprovals } from './service.ts';

const now = () => new Date('2026-11-18T10:00:00Z');
let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
});
afterAll(() => db?.drop());

test('what would be sent is sealed once, however often the call comes while it waits', async () => {
  const customerId = await addCustomer(db.database);
  let sealed = 0;
  const { pass } = createApprovals({
    ...{ database: db.database, now, hashArguments, newId: (prefix: string) => `${prefix}_${sealed}` },
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
  } as unknown as ApprovalsDependencies);
  const call = {
    session: { kind: 'customer', via: 'token', customerId },
    tool: { name: 'alpha_send_note', platform: 'alpha', class: 'W' },
    ...{ args: { text: 'hello' }, key: null, approvalId: null },
  } as unknown as Parameters<typeof pass>[0];
  expect(await pass(call)).toMatchObject({ kind: 'waits', isNew: true });
  expect(await pass(call)).toMatchObject({ kind: 'waits', isNew: false });
  expect(sealed).toBe(1);
});
