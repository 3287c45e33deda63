// The route, its inbox and its workers over real HTTP and a real database.
import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { type App, createApp } from '@libs/http';
import { startWorker, type Worker } from '@libs/jobs';
import { createIdFactory } from '@libs/seal';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openRoutes } from '../../test/open-routes.ts';
import { listConversations, listMessages } from '../connectors/whatsapp/store.ts';
import { createEmitEvent } from '../events/service.ts';
import { addCustomer } from '../invoices/test/rig.ts';
import { migrationSource } from '../schema.ts';
import { claimPhoneNumber, releasePhoneNumber } from './phone-numbers.ts';
import { registerInboundRoutes } from './routes.ts';
import { createInboundService } from './service.ts';

const APP_SECRET = 'the app secret';
const VERIFY_TOKEN = 'the verify token';
const newId = createIdFactory({ now: () => new Date(), randomBytes });
const clock = { now: new Date('2026-10-05T10:00:00Z') };
const now = () => clock.now;

let testDatabase: TestDatabase;
let database: Database;
let app: App;
let url: string;
let worker: Worker;
let problems: unknown[];

beforeEach(async () => {
  testDatabase = await createTestDatabase(migrationSource);
  database = testDatabase.database;
  problems = [];
  const inbound = createInboundService({
    database,
    emitEvent: createEmitEvent({ newId, now }),
    newId,
    now,
    onProblem: (error) => problems.push(error),
  });
  app = await createApp({
    ...{ name: 'test', version: '0', publicUrl: 'http://localhost', logLevel: 'silent', docsPath: false },
    defaultMetrics: false,
  });
  const whatsapp = { appSecret: APP_SECRET, verifyToken: VERIFY_TOKEN };
  const arrivals = { apps: [], accept: () => Promise.resolve() };
  await registerInboundRoutes(app, {
    inbound,
    arrivals,
    now,
    whatsapp,
    telegram: noTelegram(),
    routesOn: openRoutes(),
  });
  url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/webhooks/whatsapp`;
  const { handlers } = inbound.jobs;
  worker = await startWorker({
    ...{ database, handlers, now, pollMs: 200 },
    onError: (error) => problems.push(error),
  });
});
afterEach(async () => {
  await worker.drain();
  await app.drain();
  await testDatabase.drop();
});

const noTelegram = () => ({
  ...{ database, connectors: { find: () => undefined }, emitEvent: () => Promise.resolve('') },
});

const sign = (body: Buffer | string, secret = APP_SECRET) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

function post(body: Buffer | string, headers: Record<string, string> = {}) {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': sign(body), ...headers },
    body: Buffer.from(body),
  });
}

function delivery(phoneNumberId: string, messages: unknown[], statuses: unknown[] = []): string {
  const value = {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: '15550001', phone_number_id: phoneNumberId },
    contacts: [{ profile: { name: 'Ada' }, wa_id: '4915' }],
    messages,
    statuses,
  };
  return JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
  });
}

const message = (id: string, text = 'Hi', timestamp = '1791200000') => ({
  ...{ from: '4915', id, timestamp, type: 'text', text: { body: text } },
});

async function rows<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await database.query<Row>(text, values)).rows;
}

interface EventRow {
  customer_id: string;
  type: string;
  data: Record<string, unknown>;
}
const events = () => rows<EventRow>('select customer_id, type, data from events order by id');
const settled = () =>
  expect.poll(() => rows(`select 1 from jobs where key is null`), { interval: 20 }).toEqual([]);

async function claim(customerId: string, phoneNumberId: string): Promise<void> {
  await database.transaction((tx) => claimPhoneNumber(tx, { customerId, phoneNumberId, at: now() }));
}

describe('the check of the subscription', () => {
  const check = (query: Record<string, string>) => fetch(`${url}?${new URLSearchParams(query)}`);
  const good = { 'hub.mode': 'subscribe', 'hub.verify_token': VERIFY_TOKEN, 'hub.challenge': '1158201444' };

  test('answers the challenge, and nothing but the challenge', async () => {
    const answer = await check(good);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(await answer.text()).toBe('1158201444');
  });

  test('refuses another token, another mode, and none', async () => {
    for (const query of [
      { ...good, 'hub.verify_token': 'another' },
      { ...good, 'hub.verify_token': '' },
      { ...good, 'hub.mode': 'unsubscribe' },
      { 'hub.challenge': '1' },
    ]) {
      const answer = await check(query as Record<string, string>);
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({ code: 'verification_failed' });
    }
  });
});

describe('the signature', () => {
  test('[TH-9.2] is made over the very bytes: odd spacing, escapes, emoji and line ends are kept', async () => {
    const body = Buffer.from(
      `{ "object" :\r\n\t"whatsapp_business_account",  "entry":[{"id":"\\u0031" , "changes":[{"field":"messages",
      "value":{"metadata":{"phone_number_id":"106"},"messages":[{"from":"4915","id":"wamid.odd","timestamp":"1791200000",
      "type":"text","text":{"body":"Gr\\u00fc\\u00DF \\ud83d\\ude00 \u{1f389} \\/ e\u0301\\u0000"}}]}}]}]}\n\n  `,
    );
    const customer = await addCustomer(database);
    await claim(customer, '106');
    expect((await post(body)).status).toBe(200);
    const [kept] = await rows<{ body: Buffer }>('select body from whatsapp_inbox');
    expect(kept?.body.equals(body)).toBe(true);
    await settled();
    const [event] = await events();
    const expected = 'Grüß 😀 \u{1f389} / e\u0301\0';
    expect(event?.data).toMatchObject({ message: { text: { body: expected } } });
  });

  test('one changed byte, another secret, another header and none are 401, and nothing is stored', async () => {
    const body = Buffer.from(delivery('106', [message('wamid.1')]));
    const signature = sign(body);
    for (let index = 0; index < body.length; index += 37) {
      const changed = Buffer.from(body);
      changed[index] = (changed[index] as number) ^ 1;
      expect((await post(changed, { 'x-hub-signature-256': signature })).status).toBe(401);
    }
    for (const header of [
      sign(body, 'another'),
      signature.slice(7),
      'sha256=',
      `${signature}00`,
      'sha1=x',
      '',
    ]) {
      const answer = await post(body, { 'x-hub-signature-256': header });
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({ code: 'invalid_signature' });
    }
    expect(await rows('select 1 from whatsapp_inbox')).toEqual([]);
  });

  test('holds for any bytes under any content type', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        fc.constantFrom(
          'application/json',
          'text/plain',
          'application/x-www-form-urlencoded',
          'application/octet-stream',
        ),
        async (bytes, type) => {
          const body = Buffer.from(bytes);
          expect((await post(body, { 'content-type': type })).status).toBe(200);
          const kept = await rows<{ body: Buffer }>(
            'select body from whatsapp_inbox order by id desc limit 1',
          );
          expect(kept[0]?.body.equals(body)).toBe(true);
        },
      ),
      { numRuns: 25 },
    );
  });

  test('a body of megabytes is taken, one beyond the limit is not', async () => {
    const long = delivery('106', [message('wamid.long', 'x'.repeat(3_000_000))]);
    expect((await post(long)).status).toBe(200);
    expect((await post('x'.repeat(4 * 1024 * 1024 + 1))).status).toBe(413);
  });
});

describe('messages', () => {
  test('become an event for the customer that owns the number, with the vendor’s own object', async () => {
    const customer = await addCustomer(database);
    await addCustomer(database);
    await claim(customer, '106');
    await post(delivery('106', [message('wamid.1')]));
    await settled();
    expect(await events()).toEqual([
      {
        customer_id: customer,
        type: 'whatsapp.message.received',
        data: {
          phone_number_id: '106',
          from: '4915',
          message: message('wamid.1'),
          contact: { profile: { name: 'Ada' }, wa_id: '4915' },
        },
      },
    ]);
  });

  test('the same message five times, at once and later, is one event', async () => {
    const customer = await addCustomer(database);
    await claim(customer, '106');
    const body = delivery('106', [message('wamid.1')]);
    await Promise.all([post(body), post(body), post(body)]);
    await settled();
    await post(`${body} `);
    await post(body);
    await settled();
    expect(await events()).toHaveLength(1);
    expect(await rows('select 1 from whatsapp_inbox')).toHaveLength(5);
  });

  test('each state of a message that was sent is one event', async () => {
    const customer = await addCustomer(database);
    await claim(customer, '106');
    const status = (state: string) => ({
      id: 'wamid.out',
      status: state,
      timestamp: '1791200000',
      recipient_id: '49',
    });
    for (const state of ['sent', 'delivered', 'sent', 'read', 'delivered'])
      await post(delivery('106', [], [status(state)]));
    await settled();
    expect(
      (await events()).map(({ type, data }) => [type, (data.status as { status: string }).status]),
    ).toEqual([
      ['whatsapp.message.status', 'sent'],
      ['whatsapp.message.status', 'delivered'],
      ['whatsapp.message.status', 'read'],
    ]);
    expect((await events())[0]?.data).toMatchObject({ phone_number_id: '106', to: '49' });
  });

  test('for an unknown number wait until a customer claims it, and then nothing is lost or doubled', async () => {
    await post(delivery('999', [message('wamid.1'), message('wamid.2')], []));
    await post(delivery('999', [message('wamid.2'), message('wamid.3')]));
    await settled();
    expect(await events()).toEqual([]);
    expect(await rows('select 1 from whatsapp_unclaimed')).toHaveLength(3);
    const customer = await addCustomer(database);
    await claim(customer, '999');
    await settled();
    const told = await events();
    expect(told.map(({ data }) => (data.message as { id: string }).id).sort()).toEqual([
      'wamid.1',
      'wamid.2',
      'wamid.3',
    ]);
    expect(new Set(told.map(({ customer_id: id }) => id))).toEqual(new Set([customer]));
    expect(await rows('select 1 from whatsapp_unclaimed')).toEqual([]);
  });

  test('that arrive while the number is being claimed are told once each', async () => {
    const customer = await addCustomer(database);
    const posts = Array.from({ length: 30 }, async (_, index) => {
      await wait(index * 5);
      await post(delivery('999', [message(`wamid.${index % 20}`)]));
    });
    await wait(60);
    await claim(customer, '999');
    await Promise.all(posts);
    await settled();
    expect(await events()).toHaveLength(20);
    expect(await rows('select 1 from whatsapp_unclaimed')).toEqual([]);
  });

  test('a delivery that nothing can be made of is kept with its problem and harms no other', async () => {
    const customer = await addCustomer(database);
    await claim(customer, '106');
    await post('not JSON');
    await post(delivery('106', [message('wamid.1')]));
    await settled();
    expect(await events()).toHaveLength(1);
    expect(await rows('select problem from whatsapp_inbox where problem is not null')).toEqual([
      { problem: 'the body is not JSON' },
    ]);
    expect(problems).toHaveLength(1);
  });

  test('are stored for the read tools: conversations, and messages of one person', async () => {
    const customer = await addCustomer(database);
    await claim(customer, '106');
    await post(
      delivery('106', [
        message('wamid.1', 'first', '1791200000'),
        message('wamid.3', 'third', '1791200200'),
        { ...message('wamid.x', 'other', '1791200150'), from: '4999' },
      ]),
    );
    await settled();
    await post(delivery('106', [message('wamid.2', 'late', '1791200100')]));
    await settled();
    const key = { customerId: customer, phoneNumberId: '106' };
    const people = await listConversations(database, key, { since: undefined, before: undefined, limit: 10 });
    expect(people.map(({ contact, name, lastMessageId }) => [contact, name, lastMessageId])).toEqual([
      ['4915', 'Ada', 'wamid.3'],
      ['4999', null, 'wamid.x'],
    ]);
    const filter = { contact: '4915', since: undefined, before: undefined, limit: 2 };
    const page = await listMessages(database, key, filter);
    expect(page.map(({ messageId }) => messageId)).toEqual(['wamid.3', 'wamid.2']);
    const last = page.at(-1) as { sentAt: Date; messageId: string };
    const before = { at: last.sentAt.toISOString(), messageId: last.messageId };
    expect(
      (await listMessages(database, key, { ...filter, before })).map(({ messageId }) => messageId),
    ).toEqual(['wamid.1']);
    const since = new Date(1_791_200_150_000);
    expect(await listMessages(database, key, { ...filter, since })).toHaveLength(1);
    const other = { ...key, customerId: await addCustomer(database) };
    expect(await listMessages(database, other, filter)).toEqual([]);
  });
});

describe('whose a number is', () => {
  test('one customer’s: a second claim is 409, a repeat by the owner is not', async () => {
    const [first, second] = [await addCustomer(database), await addCustomer(database)];
    await claim(first, '106');
    await claim(first, '106');
    await expect(claim(second, '106')).rejects.toMatchObject({
      kind: 'conflict',
      code: 'phone_number_taken',
    });
  });

  test('of two that claim at once, one gets it', async () => {
    const customers = await Promise.all(Array.from({ length: 8 }, () => addCustomer(database)));
    const outcomes = await Promise.allSettled(customers.map((customer) => claim(customer, '106')));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('released, its messages are gone, it can be claimed anew, and what comes meanwhile waits', async () => {
    const [first, second] = [await addCustomer(database), await addCustomer(database)];
    await claim(first, '106');
    await post(delivery('106', [message('wamid.1')]));
    await settled();
    await database.transaction((tx) => releasePhoneNumber(tx, first));
    expect(await rows('select 1 from whatsapp_messages')).toEqual([]);
    await post(delivery('106', [message('wamid.2')]));
    await settled();
    expect(await events()).toHaveLength(1);
    await claim(second, '106');
    await settled();
    expect((await events()).map(({ customer_id: id }) => id)).toEqual([first, second]);
  });

  test('another number in the credential gives the first one up', async () => {
    const [first, second] = [await addCustomer(database), await addCustomer(database)];
    await claim(first, '106');
    await claim(first, '107');
    await claim(second, '106');
    expect(await rows('select phone_number_id, customer_id from phone_numbers order by 1')).toEqual([
      { phone_number_id: '106', customer_id: second },
      { phone_number_id: '107', customer_id: first },
    ]);
  });
});

test('bodies that were worked on go after thirty days, those with a problem stay', async () => {
  await post('not JSON');
  await post(delivery('999', [message('wamid.1')]));
  await settled();
  const purge = () =>
    database.query(`insert into jobs (name, payload, ready_at) values ('inbound.purge', '{}', now())`);
  clock.now = new Date(clock.now.getTime() + 29 * 86_400_000);
  await purge();
  await settled();
  expect(await rows('select 1 from whatsapp_inbox')).toHaveLength(2);
  clock.now = new Date(clock.now.getTime() + 2 * 86_400_000);
  await purge();
  await settled();
  expect(await rows('select problem from whatsapp_inbox')).toEqual([{ problem: 'the body is not JSON' }]);
  expect(await rows('select 1 from whatsapp_unclaimed')).toHaveLength(1);
});

test('without its settings the route answers 503', async () => {
  const bare = await createApp({
    ...{ name: 'test', version: '0', publicUrl: 'http://localhost', logLevel: 'silent', docsPath: false },
    defaultMetrics: false,
  });
  const inbound = { accept: () => Promise.reject(new Error('must not be called')) };
  await registerInboundRoutes(bare, {
    ...{ inbound, routesOn: openRoutes(), now, arrivals: { apps: [], accept: inbound.accept } },
    ...{ telegram: noTelegram(), whatsapp: { appSecret: undefined, verifyToken: undefined } },
  });
  for (const method of ['GET', 'POST'] as const) {
    const answer = await bare.inject({ method, url: '/webhooks/whatsapp', payload: '{}' });
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toMatchObject({ code: 'not_configured' });
  }
  await bare.close();
});
