import type { Queryable } from '@libs/db';
import { equalSecrets, hashToken, newToken } from '@libs/seal';
import { ConnectorError, type InboundAnswer, type InboundDelivery } from '../connector.ts';
import { asObject, callTelegram, type TelegramContext, textOrNull } from './api.ts';
import { lookAfterBots } from './looks.ts';
import { type BotKey, storeReceived } from './store.ts';
import { MESSAGE_KINDS, readUpdates, tellUntold } from './updates.ts';
import {
  deleteLeftWebhooks,
  deleteWebhookRow,
  doubtBot,
  findWebhook,
  isBotTaken,
  lockAddressee,
  noteWebhook,
  replaceWebhook,
  type Webhook,
} from './webhook-store.ts';

/** The customer, or a program of the customer's, may change the bot's address behind our back. */
const CHECK_EVERY_MS = 15 * 60_000;
/** Longer than Telegram goes on sending what was not taken (a day). */
const LEFT_KEPT_MS = 30 * 24 * 60 * 60_000;
const LEFT_DELETED_AT_ONCE = 100;
const SECRET_HEADER = 'x-telegram-bot-api-secret-token';
const SECRET_LENGTH_MAX = 256;
const HOOK_ID = /^[0-9a-f-]{36}$/;
/** As many digits as the ids of before, which processes of the version before look for. */
const HOOK_ID_BYTES = 18;

/** How the messages of a bot come to us now; not at all where its customer has left it meanwhile. */
export type Way = 'sent' | 'asked_for' | 'left';

const addressOf = ({ baseUrl, hookId }: Pick<Webhook, 'baseUrl' | 'hookId'>) => `${baseUrl}/${hookId}`;

/** Known without asking Telegram; undefined where that has to be asked. */
export async function knownWay(context: TelegramContext, key: BotKey): Promise<Way | undefined> {
  const known = await findWebhook(context.database, key);
  if (known === undefined) return context.inboundUrl === null ? 'asked_for' : undefined;
  const isFresh = context.now().getTime() - known.checkedAt.getTime() < CHECK_EVERY_MS;
  if (!isFresh || known.baseUrl !== context.inboundUrl) return undefined;
  return known.isSet ? 'sent' : 'asked_for';
}

/**
 * Brings Telegram to send where it can reach us, and back to being asked where it cannot. Nothing is lost on the way:
 * Telegram keeps what was not taken, by whichever way; and nothing is doubled, since a message is stored once. Runs
 * while nobody else reads the bot. An address that is not ours belongs to a program of the customer's, and stays.
 */
export async function settleWebhook(context: TelegramContext, key: BotKey): Promise<Way> {
  const { database, inboundUrl, now } = context;
  const known = await findWebhook(database, key);
  const note = (webhook: Webhook, isSet: boolean) =>
    noteWebhook(database, {
      ...{ hookId: webhook.hookId, isSet, checkedAt: now(), since: webhook.checkedAt },
    });
  try {
    const info = asObject(await callTelegram(context, 'getWebhookInfo'));
    const current = textOrNull(info.url) ?? '';
    if (inboundUrl === null) return await stopSending(context, known, current);
    if (known !== undefined && known.baseUrl === inboundUrl && current === addressOf(known)) {
      await note(known, true);
      return 'sent';
    }
    const isOurs = [inboundUrl, known?.baseUrl].some((base) => base && current.startsWith(`${base}/`));
    if (current === '' || isOurs) return await startSending(context, key, inboundUrl);
    if (known !== undefined) await note(known, false);
    return 'asked_for';
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    // A Telegram that cannot be told of an address can still be asked; the next try has time.
    const row = await findWebhook(database, key);
    if (row !== undefined) await note(row, row.isSet);
    return row?.isSet === true ? 'sent' : 'asked_for';
  }
}

/** The customer may leave the bot at any moment: whoever does finds the row, and what Telegram is told after that is undone. */
async function startSending(context: TelegramContext, key: BotKey, baseUrl: string): Promise<Way> {
  const { database, now, randomBytes } = context;
  const hookId = randomBytes(HOOK_ID_BYTES).toString('hex');
  const secret = newToken('', randomBytes);
  const before = new Date(now().getTime() - LEFT_KEPT_MS);
  await deleteLeftWebhooks(database, { before, limit: LEFT_DELETED_AT_ONCE });
  const whileConnected = (write: (tx: Queryable) => Promise<void>) =>
    database.transaction(async (tx) => {
      const isConnected = await context.stillConnected(tx);
      if (isConnected) await write(tx);
      return isConnected;
    });
  const since = now();
  const isWritten = await whileConnected((tx) =>
    replaceWebhook(tx, key, { hookId, baseUrl, checkedAt: since, secretHash: hashToken(secret) }),
  );
  if (!isWritten) return 'left';
  const url = addressOf({ baseUrl, hookId });
  await callTelegram(context, 'setWebhook', { url, secret_token: secret, allowed_updates: MESSAGE_KINDS });
  const isKept = await whileConnected((tx) =>
    noteWebhook(tx, { hookId, isSet: true, checkedAt: now(), since }),
  );
  if (isKept) return 'sent';
  await undoSending(context, key, { baseUrl, hookId });
  return 'left';
}

/**
 * An address that somebody else has told Telegram of since stays; false then. Telegram deletes whichever it has, so whoever connected the
 * bot between the look and that is looked after anew.
 */
async function undoSending(
  context: TelegramContext,
  { botId }: BotKey,
  address: Pick<Webhook, 'baseUrl' | 'hookId'>,
): Promise<boolean> {
  const info = asObject(await callTelegram(context, 'getWebhookInfo'));
  if (textOrNull(info.url) !== addressOf(address)) return false;
  try {
    await callTelegram(context, 'deleteWebhook');
  } finally {
    // Where no answer came it may have been deleted as well.
    await context.database.transaction(async (tx) =>
      lookAfterBots(tx, await doubtBot(tx, botId, address.hookId)),
    );
  }
  return true;
}

async function stopSending(
  context: TelegramContext,
  known: Webhook | undefined,
  current: string,
): Promise<Way> {
  if (known === undefined) return 'asked_for';
  if (current === addressOf(known)) await callTelegram(context, 'deleteWebhook');
  await deleteWebhookRow(context.database, known.hookId);
  return 'asked_for';
}

/**
 * Before the customer disconnects. What fails here mends itself by the answer to what is still sent (`receive`), and so
 * does an address that Telegram is only being told of: its row stays for that.
 */
export async function leaveTelegram(context: TelegramContext, key: BotKey): Promise<void> {
  const known = await findWebhook(context.database, key);
  if (known === undefined) return;
  const isUndone = await undoSending(context, key, known);
  if (isUndone) await deleteWebhookRow(context.database, known.hookId);
}

/** Telegram does what the answer to a message asks for: here to forget an address that nobody is connected by. */
const FORGET_US = { method: 'deleteWebhook' };

export async function receiveUpdate(
  { database, hookId, headers, payload }: InboundDelivery,
  tell: (tx: Queryable, customerId: string, data: Record<string, unknown>) => Promise<unknown>,
): Promise<InboundAnswer> {
  // A stranger's guess costs the database nothing.
  if (!HOOK_ID.test(hookId)) return { kind: 'unknown' };
  return database.transaction(async (tx): Promise<InboundAnswer> => {
    const addressee = await lockAddressee(tx, hookId);
    if (addressee === undefined) return { kind: 'unknown' };
    const { customerId, botId, secretHash } = addressee;
    const secret = headers[SECRET_HEADER];
    const isKnown = typeof secret === 'string' && secret.length <= SECRET_LENGTH_MAX;
    if (!isKnown || !equalSecrets(hashToken(secret), secretHash)) return { kind: 'refused' };
    // Telegram would forget the address of whoever is connected by the bot now, which it may have learnt of since it sent this.
    if (customerId === null)
      return { kind: 'taken', body: (await isBotTaken(tx, botId)) ? undefined : FORGET_US };
    const key = { customerId, botId };
    await storeReceived(tx, key, readUpdates([payload()]));
    await tellUntold(tx, key, (data) => tell(tx, customerId, data));
    return { kind: 'taken', body: undefined };
  });
}
