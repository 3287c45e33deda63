// A threshold that is passed is mailed once, and only if the change that passed it is committed.
import { randomBytes } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { startWorker } from '@libs/jobs';
import { type Mail, MailError } from '@libs/mail';
import { createIdFactory } from '@libs/seal';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBillingService } from '../billing/service.ts';
import { createEmitEvent } from '../events/service.ts';
import { reckonMonth } from '../invoices/reckoning.ts';
import { addCustomer } from '../invoices/test/rig.ts';
import { migrationSource, SCHEMA } from '../schema.ts';
import { createNotices } from './notices.ts';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase(migrationSource);
});
afterAll(() => testDatabase.drop());

test('80 % and 100 % of the limit are mailed once each, also when the first try fails', async () => {
  const { database } = testDatabase;
  const now = () => new Date('2026-10-15T12:00:00Z');
  const newId = createIdFactory({ now: () => new Date(), randomBytes });
  const sent: Mail[] = [];
  let failures = 1;
  const paying = await addCustomer(database);
  const notices = createNotices({
    schema: SCHEMA,
    publicUrl: 'https://toolhub.example',
    customers: {
      find: async (id) => ({
        id,
        email: 'ada@example.com',
        name: 'Ada',
        plan: 'free',
        createdAt: now(),
        emailVerified: true,
      }),
    },
    stopsAtLimit: async (id) => id !== paying,
    mailer: {
      async send(mail) {
        failures -= 1;
        if (failures >= 0) throw new MailError('unreachable', 'no server');
        sent.push(mail);
      },
    },
  });
  const emitEvent = notices.withMail(createEmitEvent({ newId, now }));
  const onError = (error: unknown) => {
    throw error;
  };
  const billing = createBillingService({ database, newId, now, emitEvent, onError, reckonMonth });
  const customerId = await addCustomer(database);
  await billing.changeLimit(customerId, 10);
  for (let call = 0; call < 10; call += 1) {
    const check = await billing.meter.checkLimit(customerId);
    if (check.kind !== 'reserved') throw new Error('the limit closed early');
    const { reservation } = check;
    const usage = { customerId, reservation, platform: 'email', tool: 'email_send', durationMs: 1 };
    await billing.meter.settle({ ...usage, succeeded: true, unit: 'kept' });
  }
  await billing.close();
  await expect(
    database.transaction(async (tx) => {
      await emitEvent(tx, { customerId, type: 'usage.threshold', data: {} });
      throw new Error('rolled back');
    }),
  ).rejects.toThrow('rolled back');
  const data = { threshold_percent: 100, used: 50_000, limit: 50_000, period: '2026-12' };
  await database.transaction((tx) => emitEvent(tx, { customerId: paying, type: 'usage.threshold', data }));
  const worker = await startWorker({
    database,
    handlers: notices.handlers,
    now,
    onError: () => {},
    pollMs: 100,
  });
  await expect.poll(() => sent.length).toBe(3);
  await expect.poll(async () => (await database.query('select 1 from jobs')).rowCount).toBe(0);
  await worker.drain();
  expect(sent.map(({ subject }) => subject).sort()).toEqual([
    'You have used 80 % of the calls of October 2026',
    'You have used all calls of December 2026',
    'You have used all calls of October 2026',
  ]);
  const textOf = (end: string) => sent.find(({ subject }) => subject.endsWith(end))?.text;
  expect(textOf('all calls of December 2026')).toContain(
    'Further calls are charged by the price of your plan.',
  );
  expect(textOf('80 % of the calls of October 2026')).toContain(
    'When they are used up, further calls are refused until the next month begins (UTC).',
  );
  expect(textOf('all calls of October 2026')).toContain(
    'Further calls are refused until the next month begins (UTC).\n\nYour plan, its limit and its spend cap are at https://toolhub.example/billing.',
  );
  const { rows } = await database.query<{ id: string }>(
    `select id from events where type = 'usage.threshold'`,
  );
  expect(sent.map(({ id }) => id).sort()).toEqual(rows.map(({ id }) => id).sort());
});
