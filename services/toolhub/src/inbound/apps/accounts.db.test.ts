// An account that is given up beside a message that is being stored for it.
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { startWorker, type Worker } from '@libs/jobs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrationSource } from '../../schema.ts';
import { claimAccount, releaseAccount } from './accounts.ts';
import type { InboundApp } from './app.ts';
import { createInboundApps, type InboundApps } from './service.ts';

const PLATFORM = 'slack';
const at = new Date('2026-11-16T12:00:00Z');

let db: TestDatabase;
let worker: Worker;
let inbound: InboundApps;
/** Called in the transaction that stores a message, before its commit. */
let whileStoring: () => Promise<void> = async () => {};
const failures: unknown[] = [];

/** Every body names the one account that it is for. */
const app: InboundApp = {
  ...{ platform: PLATFORM, title: 'Slack', event: 'slack.message.received', isConfigured: true, scheme: 'x' },
  signatureOf: () => 'x',
  receive: () => ({ kind: 'answered', body: null }),
  read: (payload) => {
    const { account } = payload as { account: string };
    return [{ accounts: [account], key: 'm1', at, channel: 'C1', message: {}, data: {} }];
  },
};

beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
  const { database } = db;
  const now = () => new Date();
  inbound = createInboundApps({
    ...{ database, now, apps: [app] },
    emitEvent: async () => {
      await whileStoring();
      return 'evt_1';
    },
    onProblem: (error) => void failures.push(error),
  });
  worker = await startWorker({
    ...{ database, now, handlers: inbound.jobs.handlers, pollMs: 50 },
    onError: (error) => void failures.push(error),
  });
});
afterAll(async () => {
  await worker?.drain();
  await db?.drop();
  expect(failures).toEqual([]);
});

const claim = (customerId: string, account: string) =>
  db.database.transaction((tx) => claimAccount(tx, { platform: PLATFORM, account, customerId, at }));
const release = (customerId: string) =>
  db.database.transaction((tx) => releaseAccount(tx, { platform: PLATFORM, customerId }));

async function isFound(text: string, values: unknown[] = []): Promise<boolean> {
  return (await db.database.query(text, values)).rowCount > 0;
}
const messageOf = (customerId: string) =>
  isFound('select 1 from inbound_messages where customer_id = $1', [customerId]);

test.each([
  ['given up', 'cus_1', (customerId: string) => release(customerId)],
  ['left for another', 'cus_2', (customerId: string) => claim(customerId, `${customerId}-other`)],
])(
  '[TH-3.11] a message that is being stored while its account is %s is deleted, too',
  async (_, id, leave) => {
    const isStoring = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    whileStoring = () => {
      isStoring.resolve();
      return mayCommit.promise;
    };
    await claim(id, `${id}-account`);
    const body = Buffer.from(JSON.stringify({ account: `${id}-account` }));
    await inbound.accept({ platform: PLATFORM, deliveryId: id, body, signature: 'x' });
    await isStoring.promise;
    let hasLeft = false;
    const leaving = leave(id).finally(() => {
      hasLeft = true;
    });
    const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => hasLeft || (await isFound(waits))).toBe(true);
    mayCommit.resolve();
    await leaving;
    const processed = 'select 1 from inbound_deliveries where delivery_id = $1 and processed_at is not null';
    await expect.poll(() => isFound(processed, [id])).toBe(true);
    expect(await messageOf(id)).toBe(false);
  },
);

test('what was received for the account that stays is kept', async () => {
  whileStoring = async () => {};
  await claim('cus_3', 'cus_3-account');
  const body = Buffer.from(JSON.stringify({ account: 'cus_3-account' }));
  await inbound.accept({ platform: PLATFORM, deliveryId: 'cus_3', body, signature: 'x' });
  await expect.poll(() => messageOf('cus_3')).toBe(true);
  await claim('cus_3', 'cus_3-account');
  expect(await messageOf('cus_3')).toBe(true);
});

test('customers who take each other’s account at once do not wait for each other for ever', async () => {
  for (let turn = 0; turn < 10; turn += 1) {
    const [a, b] = turn % 2 === 0 ? ['a', 'b'] : ['b', 'a'];
    await Promise.all([claim('cus_4', a as string), claim('cus_5', b as string)]);
  }
  const { rows } = await db.database.query(
    `select customer_id, account from inbound_accounts where account in ('a', 'b') order by 1`,
  );
  expect(rows).toEqual([
    { customer_id: 'cus_4', account: 'b' },
    { customer_id: 'cus_5', account: 'a' },
  ]);
});

test('bodies go thirty days after they were worked on, those with a problem among them', async () => {
  for (const [id, days, problem] of [
    ['old', 31, null],
    ['old-problem', 31, 'no JSON'],
    ['new-problem', 29, 'no JSON'],
  ] as const)
    await db.database.query(
      `insert into inbound_deliveries (platform, delivery_id, received_at, signature, body, processed_at, problem)
       values ('purged', $1, $2, 'x', 'x', $2, $3)`,
      [id, new Date(Date.now() - days * 86_400_000), problem],
    );
  await db.database.query(
    `insert into jobs (name, payload, ready_at) values ('inbound.purge_apps', '{}', now())`,
  );
  await expect.poll(() => isFound(`select 1 from jobs where name = 'inbound.purge_apps'`)).toBe(false);
  const { rows } = await db.database.query(
    `select delivery_id from inbound_deliveries where platform = 'purged'`,
  );
  expect(rows).toEqual([{ delivery_id: 'new-problem' }]);
});
