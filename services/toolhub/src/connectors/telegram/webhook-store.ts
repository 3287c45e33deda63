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

export async function noteWebhook(
  db: Queryable,
  hookId: string,
  { isSet, checkedAt }: Pick<Webhook, 'isSet' | 'checkedAt'>,
): Promise<void> {
  await db.query('update telegram_webhooks set is_set = $2, checked_at = $3 where hook_id = $1', [
    hookId,
    isSet,
    checkedAt,
  ]);
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

/** Has the next round look at the address anew: the token is another. */
export async function doubtWebhook(tx: Queryable, { customerId, botId }: BotKey): Promise<void> {
  await tx.query(
    `update telegram_webhooks set checked_at = to_timestamp(0) where customer_id = $1 and bot_id = $2`,
    [customerId, botId],
  );
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
