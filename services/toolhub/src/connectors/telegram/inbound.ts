import type { Queryable } from '@libs/db';
import type { ExportedTable } from '../../data-export/exported-table.ts';
import type { ClaimInput } from '../connector.ts';
import { botIdOf, type TelegramContext, type TelegramCredential } from './api.ts';
import { lookAfterBots } from './looks.ts';
import { type BotKey, deleteCustomer } from './store.ts';
import { botKeyOf, readStream, tellAll, whileReading } from './updates.ts';
import { knownWay, settleWebhook, type Way } from './webhook.ts';
import { doubtWebhook, leaveWebhooks } from './webhook-store.ts';

const LOOK_AGAIN_MS = 1_000;

/** The customer's file of everything shows these. */
export const EXPORTED_MESSAGES: ExportedTable = {
  table: 'telegram_messages',
  key: { bot_id: 'bigint', chat_id: 'bigint', message_id: 'bigint' },
  columns: ['sent_at', 'payload as message'],
};

/** Sees to it that the bot's messages come here, brings those that have to be asked for, and tells of all. */
export async function collectAndTell(
  context: TelegramContext,
  tell: (tx: Queryable, data: Record<string, unknown>) => Promise<unknown>,
): Promise<void> {
  const key = botKeyOf(context);
  const known = await knownWay(context, key);
  const isRead = await whileReading(context, key, async (polling, start) => {
    const way: Way = known ?? (await settleWebhook(context, key));
    if (way === 'asked_for') await readStream(context, { polling, start });
  });
  if (!isRead && known === undefined) await lookAgain(context, key);
  await tellAll(context, tell);
}

/** Somebody else reads the bot, and may have looked at its address before that came into doubt. */
async function lookAgain({ database, now, stillConnected }: TelegramContext, key: BotKey): Promise<void> {
  const soon = new Date(now().getTime() + LOOK_AGAIN_MS);
  await database.transaction(async (tx) => {
    if (await stillConnected(tx)) await lookAfterBots(tx, [key.customerId], soon);
  });
}

/** A bot that the customer had before is nobody's of this customer now. */
export async function claimBot(
  tx: Queryable,
  { customerId, credential }: ClaimInput<TelegramCredential>,
): Promise<void> {
  const botId = botIdOf(credential);
  await leaveWebhooks(tx, customerId, botId);
  await doubtWebhook(tx, { customerId, botId });
  await lookAfterBots(tx, [customerId]);
}

export async function forgetCustomer(tx: Queryable, customerId: string): Promise<void> {
  await leaveWebhooks(tx, customerId, null);
  await deleteCustomer(tx, customerId);
}
