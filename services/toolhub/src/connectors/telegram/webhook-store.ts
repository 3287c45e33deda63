import type { Queryable } from '@libs/db';
import type { BotKey } from './store.ts';

export interface Webhook {
  hookId: string;
  /** The address without its last part. */
  baseUrl: string;
  /** Whether Telegram confirmed that it sends to this address. */
  isSet: boolean;
  checkedAt: Date;
}

export async function findWebhook(
  db: Queryable,
  { customerId, botId }: BotKey,
): Promise<Webhook | undefined> {
  const { rows } = await db.query<{ hook_id: string; base_url: string; is_set: boolean; checked_at: Date }>(
    {
      name: 'telegram.find_webhook',
      text: `select hook_id, base_url, is_set, checked_at from telegram_webhooks
        where customer_id = $1 and bot_id = $2`,
    },
    [customerId, botId],
  );
  const [row] = rows;
  return row && { hookId: row.hook_id, baseUrl: row.base_url, isSet: row.is_set, checkedAt: row.checked_at };
}

/** Takes the place of the one that was there, to which Telegram is not to send any more. */
export async function replaceWebhook(
  tx: Queryable,
  { customerId, botId }: BotKey,
  webhook: Omit<Webhook, 'isSet'> & { secretHash: Buffer },
): Promise<void> {
  await tx.query('delete from telegram_webhooks where customer_id = $1 and bot_id = $2', [customerId, botId]);
  await tx.query(
    `insert into telegram_webhooks (hook_id, customer_id, bot_id, secret_hash, base_url, checked_at)
     values ($1, $2, $3, $4, $5, $6)`,
    [webhook.hookId, customerId, botId, webhook.secretHash, webhook.baseUrl, webhook.checkedAt],
  );
}

/** What a look at Telegram found out. Where the address was doubted after the one before (`since`), it has to be looked at again. */
export async function noteWebhook(
  db: Queryable,
  { hookId, isSet, checkedAt, since }: Omit<Webhook, 'baseUrl'> & { since: Date },
): Promise<void> {
  await db.query(
    `update telegram_webhooks set is_set = $2,
       checked_at = case when checked_at = $4 then $3::timestamptz else checked_at end
     where hook_id = $1`,
    [hookId, isSet, checkedAt, since],
  );
}

export async function deleteWebhookRow(db: Queryable, hookId: string): Promise<void> {
  await db.query('delete from telegram_webhooks where hook_id = $1', [hookId]);
}

/** Nobody's from now on, but for the bot that stays: what still arrives there is for no customer. */
export async function leaveWebhooks(
  tx: Queryable,
  customerId: string,
  exceptBotId: number | null,
): Promise<void> {
  await tx.query(
    `update telegram_webhooks set customer_id = null, is_set = false
     where customer_id = $1 and bot_id is distinct from $2`,
    [customerId, exceptBotId],
  );
}

/** Another time with every doubt, so that a look which began before it can tell. In UTC: where tables are spread no update takes what depends on a time zone. */
const DOUBTED = `(least(checked_at, to_timestamp(0)) at time zone 'UTC' - interval '1 millisecond') at time zone 'UTC'`;

/** Has the next round look at the address anew: the token is another. */
export async function doubtWebhook(tx: Queryable, { customerId, botId }: BotKey): Promise<void> {
  await tx.query(
    `update telegram_webhooks set checked_at = ${DOUBTED} where customer_id = $1 and bot_id = $2`,
    [customerId, botId],
  );
}

/** The same for everybody who is connected by the bot, whatever their address but this one; the customers. */
export async function doubtBot(tx: Queryable, botId: number, exceptHookId: string): Promise<string[]> {
  const { rows } = await tx.query<{ customer_id: string }>(
    `update telegram_webhooks set checked_at = ${DOUBTED}
     where bot_id = $1 and customer_id is not null and hook_id <> $2 returning customer_id`,
    [botId, exceptHookId],
  );
  return rows.map(({ customer_id }) => customer_id);
}

/** Whether anybody has an address by which this bot is, or is about to be, sent to. */
export async function isBotTaken(db: Queryable, botId: number): Promise<boolean> {
  const { rows } = await db.query(
    'select 1 from telegram_webhooks where bot_id = $1 and customer_id is not null limit 1',
    [botId],
  );
  return rows.length > 0;
}

export async function deleteLeftWebhooks(
  db: Queryable,
  { before, limit }: { before: Date; limit: number },
): Promise<void> {
  await db.query(
    `delete from telegram_webhooks where hook_id in (
       select hook_id from telegram_webhooks where customer_id is null and checked_at < $1 limit $2)`,
    [before, limit],
  );
}

export interface Addressee {
  /** Null once nobody is connected by this address any more. */
  customerId: string | null;
  botId: number;
  secretHash: Buffer;
}

/** Until the transaction ends the customer cannot disconnect: what is stored is there when that deletes everything. */
export async function lockAddressee(tx: Queryable, hookId: string): Promise<Addressee | undefined> {
  const { rows } = await tx.query<{ customer_id: string | null; bot_id: number; secret_hash: Buffer }>(
    'select customer_id, bot_id, secret_hash from telegram_webhooks where hook_id = $1 for share',
    [hookId],
  );
  const [row] = rows;
  return row && { customerId: row.customer_id, botId: row.bot_id, secretHash: row.secret_hash };
}
