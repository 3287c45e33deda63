// What the reading tools make of messages that came in: one customer's, one number's, page by page.
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrationSource } from '../../schema.ts';
import { closeTestContexts, runTool, testContext } from '../test/tool-runner.ts';
import { createWhatsappConnector } from './connector.ts';

const NUMBER = '106540352242922';
const connector = createWhatsappConnector();
let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
  for (const customer of ['cus_1', 'cus_2'])
    await db.database.query(
      `insert into customers (id, email, name, password_hash, created_at) values ($1, $1, 'x', 'x', now())`,
      [customer],
    );
});
afterAll(async () => {
  await closeTestContexts();
  await db.drop();
});

async function receive(customer: string, from: string, minute: number, message: Record<string, unknown>) {
  const at = new Date(Date.UTC(2026, 10, 1, 10, minute));
  const id = `wamid.${from}${minute}`;
  await db.database.query(
    `insert into whatsapp_messages (customer_id, phone_number_id, message_id, contact, contact_name, sent_at, received_at, message)
     values ($1, $2, $3, $4, null, $5, $5, $6)`,
    [customer, NUMBER, id, from, at, JSON.stringify({ id, from, ...message })],
  );
  await db.database.query(
    `insert into whatsapp_contacts (customer_id, phone_number_id, contact, name, last_message_id, last_message_at)
     values ($1, $2, $3, 'Somebody', $4, $5)
     on conflict (customer_id, phone_number_id, contact) do update set last_message_id = $4, last_message_at = $5`,
    [customer, NUMBER, from, id, at],
  );
  return id;
}

async function all(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>[]> {
  const context = testContext({
    ...{ platform: 'whatsapp', customerId: 'cus_1', allow: [], database: db.database },
    credential: { access_token: 'x', phone_number_id: NUMBER, business_account_id: '1' },
  });
  const items: Record<string, unknown>[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const answer = await runTool<{ items: Record<string, unknown>[]; next_cursor: string | null }>(
      connector,
      name,
      {
        args: { ...args, limit: 2, ...(cursor === undefined ? {} : { cursor }) },
        context,
      },
    );
    expect(answer).toMatchObject({ untrusted_content: true });
    // No cursor leads to a page of nothing.
    if (cursor !== undefined) expect(answer.items).not.toEqual([]);
    items.push(...answer.items);
    cursor = answer.next_cursor;
  }
  return items;
}

test('conversations and messages of the customer alone, newest first, whatever kind they are of', async () => {
  const text = (body: string) => ({ type: 'text', text: { body } });
  await receive('cus_2', '499900', 1, text('another customer’s'));
  await receive('cus_1', '491100', 2, text('first'));
  await receive('cus_1', '492200', 3, text('hi'));
  await receive('cus_1', '493300', 4, text('ho'));
  await receive('cus_1', '491100', 5, {
    type: 'image',
    image: { id: '77', mime_type: 'image/png', caption: 'look' },
  });
  await receive('cus_1', '491100', 6, { type: 'reaction', reaction: { message_id: 'wamid.x', emoji: '👍' } });
  await receive('cus_1', '491100', 7, {
    ...{
      type: 'interactive',
      interactive: { type: 'button_reply', button_reply: { id: '1', title: 'Yes' } },
    },
    context: { id: 'wamid.y' },
  });

  const conversations = await all('whatsapp_list_conversations', {});
  expect(conversations.map(({ contact }) => contact)).toEqual(['491100', '493300', '492200']);
  expect(conversations[0]).toEqual({
    ...{ contact: '491100', name: 'Somebody', last_message_id: 'wamid.4911007' },
    last_message_at: '2026-11-01T10:07:00.000Z',
  });
  const recent = await all('whatsapp_list_conversations', { since: '2026-11-01T10:04:00Z' });
  expect(recent.map(({ contact }) => contact)).toEqual(['491100', '493300']);

  // Moments that Date or Postgres do not know.
  for (const since of ['2016-12-31T23:59:60Z', '0000-01-01T00:00:00+23:59'])
    expect(await all('whatsapp_list_conversations', { since })).toHaveLength(3);

  const messages = await all('whatsapp_get_messages', { contact: '+491100' });
  expect(messages).toMatchObject([
    { type: 'interactive', text: 'Yes', reply_to_message_id: 'wamid.y' },
    { type: 'reaction', reaction: '👍', reply_to_message_id: 'wamid.x', text: null },
    { type: 'image', text: 'look', media_id: '77', mime_type: 'image/png' },
    { id: 'wamid.4911002', sent_at: '2026-11-01T10:02:00.000Z', type: 'text', text: 'first' },
  ]);
  expect(await all('whatsapp_get_messages', { contact: '499900' })).toEqual([]);
  expect(
    await all('whatsapp_get_messages', { contact: '491100', since: '2026-11-01T10:06:00Z' }),
  ).toHaveLength(2);
});

test('what people see of a message is its text, whichever kind it is of', async () => {
  const kinds: [Record<string, unknown>, string | null][] = [
    [
      { type: 'location', location: { latitude: 52.5, longitude: 13.4, name: 'Café', address: 'Street 1' } },
      'Café\nStreet 1\n52.5, 13.4',
    ],
    [
      {
        type: 'contacts',
        contacts: [
          {
            name: { formatted_name: 'Ada L' },
            phones: [{ phone: '+49 1' }],
            emails: [{ email: 'a@b.test' }],
          },
          { name: { formatted_name: 'Bob' } },
        ],
      },
      'Ada L +49 1 a@b.test\nBob',
    ],
    [
      {
        type: 'interactive',
        interactive: { type: 'nfm_reply', nfm_reply: { body: 'Sent', response_json: '{"size":"M"}' } },
      },
      'Sent\n{"size":"M"}',
    ],
    [
      {
        type: 'order',
        order: {
          text: 'please',
          product_items: [{ product_retailer_id: 'sku-1', quantity: 2, item_price: 7.5, currency: 'EUR' }, 7],
        },
      },
      'please\n2 × sku-1 (7.5 EUR)',
    ],
    [{ type: 'system', system: { body: 'Ada changed her number' } }, 'Ada changed her number'],
    [{ type: 'sticker', sticker: { id: '7' } }, null],
  ];
  for (const [index, [message]] of kinds.entries()) await receive('cus_1', '496600', index, message);
  const messages = await all('whatsapp_get_messages', { contact: '496600' });
  expect(messages.map(({ text }) => text)).toEqual(kinds.map(([, text]) => text).toReversed());
});

test('somebody who shows no number is read by the id that is listed', async () => {
  const id = 'US.13491208655302741918';
  await receive('cus_1', id, 8, { type: 'text', text: { body: 'no number' } });
  const [newest] = await all('whatsapp_list_conversations', { since: '2026-11-01T10:08:00Z' });
  expect(newest).toMatchObject({ contact: id });
  const messages = await all('whatsapp_get_messages', { contact: newest?.contact });
  expect(messages).toMatchObject([{ text: 'no number' }]);
});
