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

/** Of a new customer, and how often what would be sent was sealed. */
async function startAsking(): Promise<{ ask(text: string): Promise<unknown>; sealed(): number }> {
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
    tool: { name: 'alpha_send_note', platform: 'alpha', class: 'W', wire: { inputSchema: {} } },
    ...{ key: null, approvalId: null },
  };
  return {
    ask: async (text) => pass({ ...call, args: { text } } as unknown as Parameters<typeof pass>[0]),
    sealed: () => sealed,
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
