import { leasesOn, type Queryable } from '@libs/db';
import type { TelegramMessage } from './message.ts';

/** Whose bot: rows of one customer are never read for another, even when both hold the same bot's token. */
export interface BotKey {
  customerId: string;
  botId: number;
}

export interface TelegramUpdate {
  updateId: number;
  message: TelegramMessage;
}

/** The right to read a bot's stream, for one call at a time. */
export interface Polling extends BotKey {
  leaseId: string;
  leaseMs: number;
}

const leases = leasesOn({
  table: 'telegram_bots',
  key: ['customer_id', 'bot_id'],
  holder: 'lease_id',
  until: 'lease_until',
  rowIs: 'kept',
});

/** Where to read on, or null while another call reads. */
export async function claimPolling(
  db: Queryable,
  polling: Polling,
): Promise<{ nextUpdateId: number; movedAt: Date | null } | null> {
  const { customerId, botId, leaseId, leaseMs } = polling;
  const row = await leases.acquireRow<{ next_update_id: number; moved_at: Date | null }>(
    db,
    [customerId, botId],
    { holder: leaseId, ms: leaseMs, columns: 'next_update_id, moved_at' },
  );
  return row === undefined ? null : { nextUpdateId: row.next_update_id, movedAt: row.moved_at };
}

export async function releasePolling(db: Queryable, polling: Polling, polledAt: Date): Promise<void> {
  const { customerId, botId, leaseId } = polling;
  const set = { sql: 'polled_at = $1', values: [polledAt] };
  await leases.release(db, [customerId, botId], { holder: leaseId, set });
}

export async function isPolling(db: Queryable, { customerId, botId }: BotKey): Promise<boolean> {
  return (await leases.find(db, [customerId, botId])) !== undefined;
}

/**
 * Messages and the position in the stream are stored together: what is confirmed to Telegram is never missing here.
 * False when another call reads by now: then the messages are kept, and this one stops. It stops, too, where the customer
 * has disconnected meanwhile: then nothing is kept.
 */
export async function storeUpdates(
  tx: Queryable,
  { customerId, botId, leaseId, leaseMs }: Polling,
  { received, nextUpdateId, at }: { received: readonly TelegramUpdate[]; nextUpdateId: number; at: Date },
): Promise<boolean> {
  if (!(await lockBot(tx, { customerId, botId }))) return false;
  await storeReceived(tx, { customerId, botId }, received);
  return leases.extend(tx, [customerId, botId], {
    holder: leaseId,
    ms: leaseMs,
    set: { sql: 'next_update_id = $1, moved_at = $2', values: [nextUpdateId, at] },
  });
}

/** Until the transaction ends the customer cannot disconnect; false for one who has. */
async function lockBot(tx: Queryable, { customerId, botId }: BotKey): Promise<boolean> {
  const { rows } = await tx.query(
    {
      name: 'telegram.lock_bot',
      text: 'select 1 from telegram_bots where customer_id = $1 and bot_id = $2 for update',
    },
    [customerId, botId],
  );
  return rows.length > 0;
}

/**
 * A message is there once, as its newest edit has it, however often and in which order its updates come. Their numbers
 * tell the order only within days: after a week of silence Telegram begins at any number.
 */
export async function storeReceived(
  tx: Queryable,
  { customerId, botId }: BotKey,
  received: readonly TelegramUpdate[],
): Promise<void> {
  await tx.query(
    {
      name: 'telegram.store_messages',
      text: `insert into telegram_messages as kept
          (customer_id, bot_id, chat_id, message_id, update_id, sent_at, chat_username, payload)
        select $1, $2, chat_id, message_id, update_id, sent_at, chat_username, payload
        from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::timestamptz[], $7::text[], $8::jsonb[])
          as new (chat_id, message_id, update_id, sent_at, chat_username, payload)
        on conflict (customer_id, bot_id, chat_id, message_id) do update
          set update_id = excluded.update_id, payload = excluded.payload
          where (coalesce(excluded.payload ->> 'edited_at', ''), excluded.update_id)
            > (coalesce(kept.payload ->> 'edited_at', ''), kept.update_id)`,
    },
    [
      customerId,
      botId,
      received.map(({ message }) => message.chat.id),
      received.map(({ message }) => message.message_id),
      received.map(({ updateId }) => updateId),
      received.map(({ message }) => message.date),
      received.map(({ message }) => message.chat.username?.toLowerCase() ?? null),
      received.map(({ message }) => JSON.stringify(message)),
    ],
  );
}

/** Marks the oldest messages that no event has told of as told, in the transaction that tells of them. */
export async function takeUntold(
  tx: Queryable,
  { customerId, botId }: BotKey,
  limit: number,
): Promise<TelegramMessage[]> {
  const { rows } = await tx.query<{ payload: TelegramMessage; update_id: number }>(
    `update telegram_messages set told = true
     where customer_id = $1 and (bot_id, chat_id, message_id) in (
       select bot_id, chat_id, message_id from telegram_messages
       where customer_id = $1 and bot_id = $2 and not told
       order by update_id limit $3 for update skip locked)
     returning payload, update_id`,
    [customerId, botId, limit],
  );
  return rows.sort((a, b) => Number(a.update_id) - Number(b.update_id)).map(({ payload }) => payload);
}

export interface MessageFilter {
  chatId: number | undefined;
  chatUsername: string | undefined;
  since: Date | undefined;
  before: { sentAt: Date; chatId: number; messageId: number } | undefined;
  limit: number;
}

/** Newest first. */
export async function listStored(
  db: Queryable,
  { customerId, botId }: BotKey,
  filter: MessageFilter,
): Promise<TelegramMessage[]> {
  const { rows } = await db.query<{ payload: TelegramMessage }>(
    {
      name: 'telegram.list_messages',
      text: `select payload from telegram_messages
        where customer_id = $1 and bot_id = $2
          and ($3::bigint is null or chat_id = $3)
          and ($4::text is null or chat_username = $4)
          and ($5::timestamptz is null or sent_at >= $5)
          and ($6::timestamptz is null or (sent_at, chat_id, message_id) < ($6, $7::bigint, $8::bigint))
        order by sent_at desc, chat_id desc, message_id desc
        limit $9`,
    },
    [
      customerId,
      botId,
      filter.chatId ?? null,
      filter.chatUsername ?? null,
      filter.since ?? null,
      filter.before?.sentAt ?? null,
      filter.before?.chatId ?? null,
      filter.before?.messageId ?? null,
      filter.limit,
    ],
  );
  return rows.map(({ payload }) => payload);
}

/** A bounded piece of what is past its time, so that no call pays for all of it. */
export async function deleteOldMessages(
  db: Queryable,
  { customerId, botId }: BotKey,
  { before, limit }: { before: Date; limit: number },
): Promise<void> {
  await db.query(
    {
      name: 'telegram.delete_old',
      text: `delete from telegram_messages where (customer_id, bot_id, chat_id, message_id) in (
          select customer_id, bot_id, chat_id, message_id from telegram_messages
          where customer_id = $1 and bot_id = $2 and sent_at < $3 order by sent_at limit $4)`,
    },
    [customerId, botId, before, limit],
  );
}

/** The bots first, by whose rows this waits for what is being stored. */
export async function deleteCustomer(tx: Queryable, customerId: string): Promise<void> {
  await tx.query('delete from telegram_bots where customer_id = $1', [customerId]);
  await tx.query('delete from telegram_messages where customer_id = $1', [customerId]);
}
