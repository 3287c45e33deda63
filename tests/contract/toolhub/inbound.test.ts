// /webhooks/whatsapp of the whole service, with its workers.
import { createHmac } from 'node:crypto';
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPhoneNumbers } from '../../../services/toolhub/src/inbound/service.ts';
import { SCHEMA } from '../../../services/toolhub/src/schema.ts';
import { type Customer, createToolhubDatabase, newCustomer, type Service, startService } from './service.ts';

const SECRET = 'whatsapp-app-secret';
const VERIFY_TOKEN = 'whatsapp-verify-token';
const numbers = createPhoneNumbers({ schema: SCHEMA, now: () => new Date() });

let db: TestDatabase;
let service: Service;
let bare: Service;
let ada: Customer;

beforeAll(async () => {
  db = await createToolhubDatabase();
  const env = { WHATSAPP_APP_SECRET: SECRET, WHATSAPP_VERIFY_TOKEN: VERIFY_TOKEN };
  [service, bare] = await Promise.all([startService(db.url, { env }), startService(db.url, { jobs: false })]);
  ada = await newCustomer(service.url);
});
afterAll(async () => {
  await Promise.all([service.stop(), bare.stop()]);
  await db.drop();
});

const sign = (body: string | Buffer) => `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;

function post(body: string | Buffer, signature: string | null = sign(body)) {
  return fetch(`${service.url}/webhooks/whatsapp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(signature === null ? {} : { 'x-hub-signature-256': signature }),
    },
    body: Buffer.from(body),
  });
}

const body = (phoneNumberId: string, id: string, text = 'Hi') =>
  `{"object":"whatsapp_business_account",  "entry":[ {"id":"1","changes":[{"field":"messages","value":{"metadata":
    {"phone_number_id":"${phoneNumberId}"},"contacts":[{"wa_id":"4915","profile":{"name":"Zo\\u00eb \\ud83d\\ude00"}}],
    "messages":[{"from":"4915","id":"${id}","timestamp":"1791200000","type":"text","text":{"body":"${text}"}}]}}]}] }`;

async function eventsOf(customerId: string) {
  const { rows } = await db.database.query<{ type: string; data: Record<string, unknown> }>(
    'select type, data from events where customer_id = $1 order by id',
    [customerId],
  );
  return rows;
}
const waiting = async () => {
  const { rows } = await db.database.query(
    `select 1 from jobs where name in ('inbound.whatsapp', 'inbound.whatsapp_claimed')`,
  );
  return rows.length;
};
const settled = () => expect.poll(waiting, { timeout: 10_000, interval: 20 }).toBe(0);
const claim = (phoneNumberId: string) =>
  db.database.transaction((tx) => numbers.claimPhoneNumber(tx, { customerId: ada.id, phoneNumberId }));

describe('[TH-9] WhatsApp', () => {
  test('the subscription check answers the challenge, 403 for another token, 503 where nothing is configured', async () => {
    const query = `hub.mode=subscribe&hub.verify_token=${VERIFY_TOKEN}&hub.challenge=42`;
    const answer = await fetch(`${service.url}/webhooks/whatsapp?${query}`);
    expect([answer.status, await answer.text()]).toEqual([200, '42']);
    const wrong = await fetch(`${service.url}/webhooks/whatsapp?${query.replace(VERIFY_TOKEN, 'x')}`);
    expect(wrong.status).toBe(403);
    expect(wrong.headers.get('content-type')).toContain('application/problem+json');
    for (const init of [{}, { method: 'POST', body: '{}' }])
      expect((await fetch(`${bare.url}/webhooks/whatsapp?${query}`, init)).status).toBe(503);
  });

  test('bytes are kept as they came, a changed one is 401, five times the same message is one event', async () => {
    await claim('106');
    const text = body('106', 'wamid.1', 'Gr\\u00fc\\u00dfe \u{1f389}');
    for (let time = 0; time < 5; time += 1) {
      const answer = await post(text);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toBe('');
    }
    expect((await post(text.replace('4915', '4916'), sign(text))).status).toBe(401);
    expect((await post(text, null)).status).toBe(401);
    await settled();
    const { rows } = await db.database.query<{ body: Buffer }>('select body from whatsapp_inbox');
    expect(rows.map((row) => row.body.toString('utf8'))).toEqual(Array(5).fill(text));
    expect(await eventsOf(ada.id)).toEqual([
      {
        type: 'whatsapp.message.received',
        data: {
          phone_number_id: '106',
          from: '4915',
          message: {
            from: '4915',
            id: 'wamid.1',
            timestamp: '1791200000',
            type: 'text',
            text: { body: 'Grüße \u{1f389}' },
          },
          contact: { wa_id: '4915', profile: { name: 'Zoë 😀' } },
        },
      },
    ]);
  });

  test('what came for an unknown number is told when it is claimed', async () => {
    const before = (await eventsOf(ada.id)).length;
    for (const id of ['wamid.a', 'wamid.b', 'wamid.a']) await post(body('777', id));
    await settled();
    expect(await eventsOf(ada.id)).toHaveLength(before);
    await claim('777');
    await settled();
    expect(await eventsOf(ada.id)).toHaveLength(before + 2);
  });

  test('a number that is another’s is 409', async () => {
    const bob = await newCustomer(service.url);
    const taken = db.database.transaction((tx) =>
      numbers.claimPhoneNumber(tx, { customerId: bob.id, phoneNumberId: '777' }),
    );
    await expect(taken).rejects.toMatchObject({ status: 409, code: 'phone_number_taken' });
  });
});
