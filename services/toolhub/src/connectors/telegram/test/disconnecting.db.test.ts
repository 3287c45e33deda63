// A customer who disconnects while Telegram is being asked: what comes after that is for nobody.
import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { migrationSource } from '../../../schema.ts';
import { closeTestContexts, runTool, testContext } from '../../test/tool-runner.ts';
import { createTelegramConnector } from '../connector.ts';
import type { TelegramMessage } from '../message.ts';
import { claimPolling, storeUpdates } from '../store.ts';
import { readUpdates } from '../updates.ts';
import { doubtBot, findWebhook, noteWebhook, replaceWebhook } from '../webhook-store.ts';
import { type BotApiServer, startBotApi } from './bot-api-server.ts';

const SENT_SECONDS = 1_793_500_000;
const now = () => new Date((SENT_SECONDS + 60) * 1_000);
const connector = createTelegramConnector();
let api: BotApiServer;
let db: TestDatabase;
let botId = 500;
let token: string;
let customerId: string;
let isConnected: boolean;
const told: string[] = [];

beforeAll(async () => {
  [api, db] = await Promise.all([startBotApi(), createTestDatabase(migrationSource)]);
});
beforeEach(() => {
  botId += 1;
  customerId = `cus_${botId}`;
  token = `${botId}:AAE_abcdefghijklmnopqrstuvwxyz012345`;
  api.addBot(token, 'test_bot');
  api.calls.length = 0;
  api.setUpdateDelay(0);
  told.length = 0;
  isConnected = true;
});
afterAll(async () => {
  await closeTestContexts();
  await Promise.all([api.stop(), db.drop()]);
});

const context = () =>
  testContext({
    ...{ platform: 'telegram', credential: { bot_token: token }, customerId, now },
    ...{ allow: [new URL(api.url).host], baseUrl: api.url, database: db.database },
    stillConnected: async () => isConnected,
  });
const collect = () =>
  connector.collect?.(
    context(),
    async (_tx, data) => void told.push((data.message as TelegramMessage).text ?? ''),
  );
const list = () => runTool(connector, 'telegram_list_messages', { args: {}, context: context() });
const disconnect = () =>
  db.database.transaction(async (tx) => {
    isConnected = false;
    await connector.forget?.(tx, customerId);
  });
const asked = (method: string) => api.calls.filter((call) => call.method === method).length;
const stored = async () =>
  (await db.database.query('select 1 from telegram_messages where customer_id = $1', [customerId])).rowCount;
const bots = async () =>
  (await db.database.query('select 1 from telegram_bots where customer_id = $1', [customerId])).rowCount;
const waitingForLocks = async () =>
  (
    await db.database.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
  ).rowCount;
const message = (text: string) => ({
  message: { message_id: 1, date: SENT_SECONDS, chat: { id: 5, type: 'private', first_name: 'Bob' }, text },
});

test('[TH-9.8] what Telegram answers after the customer has disconnected is neither stored nor told', async () => {
  api.push(token, message('too late'));
  api.setUpdateDelay(300);
  const collecting = collect();
  await expect.poll(() => asked('getUpdates'), { interval: 10 }).toBe(1);
  await disconnect();
  await collecting;
  expect(await stored()).toBe(0);
  expect(told).toEqual([]);
});

test('[TH-9.8] what is read for a customer who has disconnected just before is neither stored nor told', async () => {
  api.push(token, message('for nobody'));
  await disconnect();
  await collect();
  expect(await stored()).toBe(0);
  expect(told).toEqual([]);
  expect(api.waiting(token)).toBe(1);
  expect(await bots()).toBe(0);
});

// Whoever calls the tool is told so then: what a refused token leads to finds that the account is not connected.
const GONE = { code: 'token_expired' };

test('[TH-9.8] a list that was asked for just before the customer disconnected stores nothing and tells nothing', async () => {
  api.push(token, message('for nobody'));
  await disconnect();
  await expect(list()).rejects.toMatchObject(GONE);
  expect([await stored(), await bots(), api.waiting(token)]).toEqual([0, 0, 1]);
});

test('[TH-9.8] a list during which the customer disconnects stores nothing and tells nothing', async () => {
  api.push(token, message('too late'));
  const { reached, release } = api.holdNext('getUpdates');
  const listing = list();
  await reached;
  await disconnect();
  release();
  await expect(listing).rejects.toMatchObject(GONE);
  expect([await stored(), await bots()]).toEqual([0, 0]);
});

test('[TH-9.8] a further page is not of an account that is gone, either', async () => {
  api.push(token, message('one'));
  api.push(token, { message: { ...message('two').message, message_id: 2 } });
  const page = await runTool<{ next_cursor: string }>(connector, 'telegram_list_messages', {
    ...{ args: { limit: 1 }, context: context() },
  });
  await disconnect();
  const args = { cursor: page.next_cursor };
  await expect(
    runTool(connector, 'telegram_list_messages', { args, context: context() }),
  ).rejects.toMatchObject(GONE);
});

test('[TH-9.8] who disconnects waits for what is being stored, and deletes it with the rest', async () => {
  const polling = { customerId, botId, leaseId: 'reader', leaseMs: 60_000 };
  await claimPolling(db.database, polling);
  const received = readUpdates([{ update_id: 1, ...message('just in time') }]);
  const [written, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const storing = db.database.transaction(async (tx) => {
    await storeUpdates(tx, polling, { received, nextUpdateId: 2, at: now() });
    written.resolve();
    await commit.promise;
  });
  await written.promise;
  const disconnecting = disconnect();
  await expect.poll(waitingForLocks, { interval: 10 }).toBe(1);
  commit.resolve();
  await Promise.all([storing, disconnecting]);
  expect(await stored()).toBe(0);
});

test('[TH-9.8] what a reader brings whose lease another has taken over meanwhile is kept', async () => {
  const polling = { customerId, botId, leaseId: 'late', leaseMs: 60_000 };
  await claimPolling(db.database, { ...polling, leaseId: 'other' });
  const received = readUpdates([{ update_id: 1, ...message('kept') }]);
  const isOurs = await db.database.transaction((tx) =>
    storeUpdates(tx, polling, { received, nextUpdateId: 2, at: now() }),
  );
  expect([isOurs, await stored()]).toEqual([false, 1]);
});

test('[TH-9.8] a look at an address that began before it was doubted leaves the doubt', async () => {
  const [key, at] = [{ customerId, botId }, now()];
  const hookId = randomUUID();
  const looked = async () => (await findWebhook(db.database, key))?.checkedAt as Date;
  const note = (since: Date) => noteWebhook(db.database, { hookId, isSet: true, checkedAt: at, since });
  await db.database.transaction((tx) =>
    replaceWebhook(tx, key, { hookId, baseUrl: 'https://hub', checkedAt: at, secretHash: Buffer.alloc(32) }),
  );
  for (const _time of ['first', 'again']) {
    const began = await looked();
    await db.database.transaction((tx) => doubtBot(tx, botId, 'another address'));
    await note(began);
    expect((await looked()).getTime()).toBeLessThan(began.getTime());
  }
  await note(await looked());
  expect(await looked()).toEqual(at);
});
