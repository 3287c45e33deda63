// What was received is the customer's, too: the file of everything has all of it, and nothing of another.
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tableSection } from '../data-export/table-section.ts';
import { migrationSource } from '../schema.ts';
import { RECEIVED_TABLES } from './exported.ts';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase(migrationSource);
  const store = (text: string) => db.database.query(text, ['cus_1']);
  // More than a page, of two numbers.
  await store(`insert into whatsapp_messages
      (customer_id, phone_number_id, message_id, contact, contact_name, sent_at, received_at, message)
    select $1, 'number ' || n % 2, 'wamid.' || n, '49' || n, 'Ada', now(), now(), '{"type":"text"}'
    from generate_series(1, 1100) as n`);
  await store(`insert into whatsapp_contacts
      (customer_id, phone_number_id, contact, name, last_message_id, last_message_at)
    values ($1, '1', '491', 'Ada', 'wamid.1', now())`);
  await store(`insert into whatsapp_statuses (customer_id, phone_number_id, message_id, status, at)
    values ($1, '1', 'wamid.2', 'read', now()), ($1, '1', 'wamid.2', 'sent', now())`);
  await store(`insert into telegram_messages
      (customer_id, bot_id, chat_id, message_id, update_id, sent_at, payload)
    select $1, 7, -100 - n % 3, n, n, now(), '{"text":"hi"}' from generate_series(1, 501) as n`);
  await store(`insert into inbound_messages
      (customer_id, platform, account, message_key, channel, sent_at, received_at, message)
    select $1, platform, 'T1', 'k', 'C1', now(), now(), '{"text":"ho"}'
    from unnest(array['slack', 'discord']) as platform`);
});
afterAll(() => db?.drop());

async function exported(customerId: string): Promise<Record<string, Record<string, unknown>[]>> {
  const lists: Record<string, Record<string, unknown>[]> = {};
  for (const table of RECEIVED_TABLES) {
    const section = tableSection(db.database, table);
    if (!('pages' in section)) throw new Error(`${section.name} is no list`);
    const rows = [];
    for await (const page of section.pages(customerId)) rows.push(...page);
    lists[section.name] = rows as Record<string, unknown>[];
  }
  return lists;
}

test('[TH-11.31] everything that was received is exported, each row once', async () => {
  const lists = await exported('cus_1');
  const found = Object.entries(lists).map(([name, rows]) => [
    name,
    new Set(rows.map(keyOf)).size,
    rows.length,
  ]);
  expect(found).toEqual([
    ['whatsapp_messages', 1_100, 1_100],
    ['whatsapp_contacts', 1, 1],
    ['whatsapp_statuses', 2, 2],
    ['telegram_messages', 501, 501],
    ['inbound_messages', 2, 2],
  ]);
  expect(lists.whatsapp_messages?.[0]).toMatchObject({ contact_name: 'Ada', message: { type: 'text' } });
  expect(lists.telegram_messages?.[0]).toMatchObject({ bot_id: 7, message: { text: 'hi' } });
  expect(lists.inbound_messages).toMatchObject([
    { platform: 'discord' },
    { platform: 'slack', channel: 'C1' },
  ]);
  expect(Object.values(await exported('cus_2')).flat()).toEqual([]);
});

function keyOf({ sent_at, received_at, at, message, ...key }: Record<string, unknown>): string {
  return JSON.stringify(key);
}
