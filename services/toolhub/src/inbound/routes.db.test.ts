// The route, its inbox and its workers over real HTTP and a real database.
import { setTimeout as wait } from 'node:timers/promises';
import { createApp } from '@libs/http';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openRoutes } from '../../test/open-routes.ts';
import { listConversations, listMessages } from '../connectors/whatsapp/store.ts';
import { addCustomer } from '../invoices/test/rig.ts';
import { registerInboundRoutes } from './routes.ts';
import {
  appOptions,
  delivery,
  message,
  sign,
  startWhatsapp,
  VERIFY_TOKEN,
  type WhatsappRig,
} from './test/whatsapp-rig.ts';

let rig: WhatsappRig;

beforeEach(async () => {
  rig = await startWhatsapp();
});
afterEach(() => rig.stop());

describe('the check of the subscription', () => {
  const check = (query: Record<string, string>) => fetch(`${rig.url}?${new URLSearchParams(query)}`);
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
    const customer = await addCustomer(rig.database);
    await rig.claim(customer, '106');
    expect((await rig.post(body)).status).toBe(200);
    const [kept] = await rig.rows<{ body: Buffer }>('select body from whatsapp_inbox');
    expect(kept?.body.equals(body)).toBe(true);
    await rig.settled();
    const [event] = await rig.events();
    const expected = 'Grüß 😀 \u{1f389} / e\u0301\0';
    expect(event?.data).toMatchObject({ message: { text: { body: expected } } });
  });

  test('one changed byte, another secret, another header and none are 401, and nothing is stored', async () => {
    const body = Buffer.from(delivery('106', [message('wamid.1')]));
    const signature = sign(body);
    for (let index = 0; index < body.length; index += 37) {
      const changed = Buffer.from(body);
      changed[index] = (changed[index] as number) ^ 1;
      expect((await rig.post(changed, { 'x-hub-signature-256': signature })).status).toBe(401);
    }
    for (const header of [
      sign(body, 'another'),
      signature.slice(7),
      'sha256=',
      `${signature}00`,
      'sha1=x',
      '',
    ]) {
      const answer = await rig.post(body, { 'x-hub-signature-256': header });
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({ code: 'invalid_signature' });
    }
    expect(await rig.rows('select 1 from whatsapp_inbox')).toEqual([]);
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
          expect((await rig.post(body, { 'content-type': type })).status).toBe(200);
          const kept = await rig.rows<{ body: Buffer }>(
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
    expect((await rig.post(long)).status).toBe(200);
    expect((await rig.post('x'.repeat(4 * 1024 * 1024 + 1))).status).toBe(413);
  });
});

describe('messages', () => {
  test('become an event for the customer that owns the number, with the vendor’s own object', async () => {
    const customer = await addCustomer(rig.database);
    await addCustomer(rig.database);
    await rig.claim(customer, '106');
    await rig.post(delivery('106', [message('wamid.1')]));
    await rig.settled();
    expect(await rig.events()).toEqual([
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
    const customer = await addCustomer(rig.database);
    await rig.claim(customer, '106');
    const body = delivery('106', [message('wamid.1')]);
    await Promise.all([rig.post(body), rig.post(body), rig.post(body)]);
    await rig.settled();
    await rig.post(`${body} `);
    await rig.post(body);
    await rig.settled();
    expect(await rig.events()).toHaveLength(1);
    expect(await rig.rows('select 1 from whatsapp_inbox')).toHaveLength(5);
  });

  test('each state of a message that was sent is one event', async () => {
    const customer = await addCustomer(rig.database);
    await rig.claim(customer, '106');
    const status = (state: string) => ({
      id: 'wamid.out',
      status: state,
      timestamp: '1791200000',
      recipient_id: '49',
    });
    for (const state of ['sent', 'delivered', 'sent', 'read', 'delivered'])
      await rig.post(delivery('106', [], [status(state)]));
    await rig.settled();
    expect(
      (await rig.events()).map(({ type, data }) => [type, (data.status as { status: string }).status]),
    ).toEqual([
      ['whatsapp.message.status', 'sent'],
      ['whatsapp.message.status', 'delivered'],
      ['whatsapp.message.status', 'read'],
    ]);
    expect((await rig.events())[0]?.data).toMatchObject({ phone_number_id: '106', to: '49' });
  });

  test('for an unknown number wait until a customer claims it, and then nothing is lost or doubled', async () => {
    await rig.post(delivery('999', [message('wamid.1'), message('wamid.2')], []));
    await rig.post(delivery('999', [message('wamid.2'), message('wamid.3')]));
    await rig.settled();
    expect(await rig.events()).toEqual([]);
    expect(await rig.rows('select 1 from whatsapp_unclaimed')).toHaveLength(3);
    const customer = await addCustomer(rig.database);
    await rig.claim(customer, '999');
    await rig.settled();
    const told = await rig.events();
    expect(told.map(({ data }) => (data.message as { id: string }).id).sort()).toEqual([
      'wamid.1',
      'wamid.2',
      'wamid.3',
    ]);
    expect(new Set(told.map(({ customer_id: id }) => id))).toEqual(new Set([customer]));
    expect(await rig.rows('select 1 from whatsapp_unclaimed')).toEqual([]);
  });

  test('that arrive while the number is being claimed are told once each', async () => {
    const customer = await addCustomer(rig.database);
    const posts = Array.from({ length: 30 }, async (_, index) => {
      await wait(index * 5);
      await rig.post(delivery('999', [message(`wamid.${index % 20}`)]));
    });
    await wait(60);
    await rig.claim(customer, '999');
    await Promise.all(posts);
    await rig.settled();
    expect(await rig.events()).toHaveLength(20);
    expect(await rig.rows('select 1 from whatsapp_unclaimed')).toEqual([]);
  });

  test('a delivery that nothing can be made of is kept with its problem and harms no other', async () => {
    const customer = await addCustomer(rig.database);
    await rig.claim(customer, '106');
    await rig.post('not JSON');
    await rig.post(delivery('106', [message('wamid.1')]));
    await rig.settled();
    expect(await rig.events()).toHaveLength(1);
    expect(await rig.rows('select problem from whatsapp_inbox where problem is not null')).toEqual([
      { problem: 'the body is not JSON' },
    ]);
    expect(rig.problems).toHaveLength(1);
  });

  test('a message that nothing can be made of is kept as a problem, and those beside it are told', async () => {
    const customer = await addCustomer(rig.database);
    await rig.claim(customer, '106');
    await rig.post(delivery('106', [message('wamid.1'), { id: 'wamid.2' }, message('wamid.3')]));
    await rig.settled();
    const told = (await rig.events()).map(({ data }) => (data.message as { id: string }).id);
    expect(told).toEqual(['wamid.1', 'wamid.3']);
    expect(await rig.rows('select problem from whatsapp_inbox')).toEqual([{ problem: 'from is missing' }]);
    expect(rig.problems).toHaveLength(1);
  });

  test('are stored for the read tools: conversations, and messages of one person', async () => {
    const customer = await addCustomer(rig.database);
    await rig.claim(customer, '106');
    await rig.post(
      delivery('106', [
        message('wamid.1', 'first', '1791200000'),
        message('wamid.3', 'third', '1791200200'),
        { ...message('wamid.x', 'other', '1791200150'), from: '4999' },
      ]),
    );
    await rig.settled();
    await rig.post(delivery('106', [message('wamid.2', 'late', '1791200100')]));
    await rig.settled();
    const key = { customerId: customer, phoneNumberId: '106' };
    const people = await listConversations(rig.database, key, {
      since: undefined,
      before: undefined,
      limit: 10,
    });
    expect(people.map(({ contact, name, lastMessageId }) => [contact, name, lastMessageId])).toEqual([
      ['4915', 'Ada', 'wamid.3'],
      ['4999', null, 'wamid.x'],
    ]);
    const filter = { contact: '4915', since: undefined, before: undefined, limit: 2 };
    const page = await listMessages(rig.database, key, filter);
    expect(page.map(({ messageId }) => messageId)).toEqual(['wamid.3', 'wamid.2']);
    const last = page.at(-1) as { sentAt: Date; messageId: string };
    const before = { at: last.sentAt, messageId: last.messageId };
    expect(
      (await listMessages(rig.database, key, { ...filter, before })).map(({ messageId }) => messageId),
    ).toEqual(['wamid.1']);
    const since = new Date(1_791_200_150_000);
    expect(await listMessages(rig.database, key, { ...filter, since })).toHaveLength(1);
    const other = { ...key, customerId: await addCustomer(rig.database) };
    expect(await listMessages(rig.database, other, filter)).toEqual([]);
  });
});

test('bodies that were worked on go after thirty days, those with a problem among them', async () => {
  await rig.post('not JSON');
  await rig.post(delivery('999', [message('wamid.1')]));
  await rig.settled();
  const purge = () =>
    rig.database.query(`insert into jobs (name, payload, ready_at) values ('inbound.purge', '{}', now())`);
  rig.clock.now = new Date(rig.clock.now.getTime() + 29 * 86_400_000);
  await purge();
  await rig.settled();
  expect(await rig.rows('select 1 from whatsapp_inbox')).toHaveLength(2);
  rig.clock.now = new Date(rig.clock.now.getTime() + 2 * 86_400_000);
  await purge();
  await rig.settled();
  expect(await rig.rows('select 1 from whatsapp_inbox')).toEqual([]);
  expect(await rig.rows('select 1 from whatsapp_unclaimed')).toHaveLength(1);
});

test('without its settings the route answers 503', async () => {
  const bare = await createApp(appOptions);
  const inbound = { accept: () => Promise.reject(new Error('must not be called')) };
  await registerInboundRoutes(bare, {
    ...{ inbound, routesOn: openRoutes(), now: rig.now, arrivals: { apps: [], accept: inbound.accept } },
    ...{ telegram: rig.telegram, whatsapp: { appSecret: undefined, verifyToken: undefined } },
  });
  for (const method of ['GET', 'POST'] as const) {
    const answer = await bare.inject({ method, url: '/webhooks/whatsapp', payload: '{}' });
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toMatchObject({ code: 'not_configured' });
  }
  await bare.close();
});
