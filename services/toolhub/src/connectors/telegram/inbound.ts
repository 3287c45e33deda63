import type { Queryable } from '@libs/db';
import type { ClaimInput } from '../connector.ts';
import { botIdOf, type TelegramContext, type TelegramCredential } from './api.ts';
import { lookAfterBots } from './looks.ts';
import { deleteCustomer } from './store.ts';
import { botKeyOf, readStream, tellAll, whileReading } from './updates.ts';
import { knownWay, settleWebhook, type Way } from './webhook.ts';
import { doubtWebhook, leaveWebhooks } from './webhook-store.ts';

/** Sees to it that the bot's messages come here, brings those that have to be asked for, and tells of all. */
export async function collectAndTell(
  context: TelegramContext,
  tell: (tx: Queryable, data: Record<string, unknown>) => Promise<unknown>,
): Promise<void> {
  const key = botKeyOf(context);
  const known = await knownWay(context, key);
  await whileReading(context, key, async (polling, start) => {
    const way: Way = known ?? (await settleWebhook(context, key));
    if (way === 'asked_for') await readStream(context, { polling, start });
  });
  await tellAll(context, tell);
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
