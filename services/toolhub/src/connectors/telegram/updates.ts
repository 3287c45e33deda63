import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '@libs/db';
import { newToken } from '@libs/seal';
import { ConnectorError } from '../connector.ts';
import { botIdOf, callTelegram, integerOf, type TelegramContext } from './api.ts';
import { readMessage } from './message.ts';
import {
  type BotKey,
  claimPolling,
  deleteOldMessages,
  isPolling,
  type Polling,
  releasePolling,
  storeUpdates,
  type TelegramUpdate,
  takeUntold,
} from './store.ts';
import { findWebhook } from './webhook-store.ts';

/** Telegram keeps updates for a day and gives at most 100 at once. */
const UPDATES_AT_ONCE = 100;
const ROUNDS_MAX = 20;
/** More than one call to Telegram can take; what it brings moves the end on. */
const LEASE_MS = 60_000;
const WAIT_STEP_MS = 50;
const WAIT_MS_MAX = 10_000;
const KEPT_DAYS = 90;
const DAY_MS = 24 * 60 * 60 * 1_000;
const DELETED_AT_ONCE = 1_000;
export const MESSAGE_KINDS = ['message', 'edited_message', 'channel_post', 'edited_channel_post'] as const;

export function botKeyOf({ customerId, credential }: TelegramContext): BotKey {
  return { customerId: customerId ?? 'internal', botId: botIdOf(credential) };
}

/**
 * Brings our store up to date when it is read. The Bot API allows one reader per bot and forgets what the reader's
 * next call confirms, so one call reads at a time, over all processes, and each batch is stored before the next call.
 */
export async function collectUpdates(context: TelegramContext): Promise<void> {
  const key = botKeyOf(context);
  // What Telegram sends by itself is here already, and a bot that is sent to cannot be asked.
  const known = await findWebhook(context.database, key);
  if (known?.isSet === true) return;
  const isRead = await whileReading(context, key, (polling, start) =>
    readStream(context, { polling, start }),
  );
  if (!isRead) await waitForOther(context, key);
}

/** Nobody else reads the bot meanwhile, in any process; false where somebody does, or the customer has left it. */
export async function whileReading(
  context: TelegramContext,
  key: BotKey,
  work: (polling: Polling, nextUpdateId: number) => Promise<void>,
): Promise<boolean> {
  const { database, now, randomBytes } = context;
  const polling = { ...key, leaseId: newToken('', randomBytes), leaseMs: LEASE_MS };
  // Reading makes the row of a bot, which would be there for good after its customer has disconnected.
  const claimed = await database.transaction(async (tx) =>
    (await context.stillConnected(tx)) ? claimPolling(tx, polling) : null,
  );
  if (claimed === null) return false;
  try {
    await work(polling, startOf(claimed, now()));
    const before = new Date(now().getTime() - KEPT_DAYS * DAY_MS);
    await deleteOldMessages(database, key, { before, limit: DELETED_AT_ONCE });
  } finally {
    await releasePolling(database, polling, now());
  }
  return true;
}

/** After a week without updates Telegram goes on at any number: an older position says nothing, and would lose them. */
const POSITION_BELIEVED_MS = 6 * DAY_MS;

function startOf(
  { nextUpdateId, movedAt }: { nextUpdateId: number; movedAt: Date | null },
  now: Date,
): number {
  return movedAt !== null && now.getTime() - movedAt.getTime() < POSITION_BELIEVED_MS ? nextUpdateId : 0;
}

const TOLD_AT_ONCE = 100;

/** Tells of the oldest messages that nobody was told of, in the caller's transaction; how many they were. */
export async function tellUntold(
  tx: Queryable,
  key: BotKey,
  tell: (data: Record<string, unknown>) => Promise<unknown>,
): Promise<number> {
  const messages = await takeUntold(tx, key, TOLD_AT_ONCE);
  for (const message of messages) await tell({ bot_id: key.botId, chat_id: message.chat.id, message });
  return messages.length;
}

/** Tells of everything in the store that nobody was told of, whoever brought it. */
export async function tellAll(
  context: TelegramContext,
  tell: (tx: Queryable, data: Record<string, unknown>) => Promise<unknown>,
): Promise<void> {
  const key = botKeyOf(context);
  for (let told = TOLD_AT_ONCE; told === TOLD_AT_ONCE; context.signal.throwIfAborted())
    told = await context.database.transaction((tx) => tellUntold(tx, key, (data) => tell(tx, data)));
}

/** The call after a batch confirms it, so the stream is read until it is empty, or until another call reads it. */
export async function readStream(
  context: TelegramContext,
  { polling, start }: { polling: Polling; start: number },
): Promise<void> {
  let offset = start;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const answer = await callTelegram(context, 'getUpdates', {
      offset,
      limit: UPDATES_AT_ONCE,
      timeout: 0,
      allowed_updates: MESSAGE_KINDS,
    });
    if (!Array.isArray(answer)) {
      throw new ConnectorError(
        'platform_unavailable',
        'Telegram sent an answer of another shape than it documents',
      );
    }
    if (answer.length === 0) return;
    const ids = answer.flatMap(readableUpdate).map((update) => integerOf(update.update_id));
    // Nothing in it can be confirmed, so the same would come again for ever.
    if (ids.length === 0) return;
    offset = Math.max(offset, ...ids.map((id) => id + 1));
    const received = readUpdates(answer);
    const isOurs = await context.database.transaction(
      async (tx) =>
        (await context.stillConnected(tx)) &&
        storeUpdates(tx, polling, { received, nextUpdateId: offset, at: context.now() }),
    );
    if (!isOurs) return;
    context.progress(round + 1, undefined, 'updates');
  }
}

/** The messages in what Telegram sent, each as its last update has it. */
export function readUpdates(updates: readonly unknown[]): TelegramUpdate[] {
  return lastOfEach(updates.flatMap(readableUpdate).flatMap(readUpdate));
}

/** One that has no number of its own is passed over; the next one that has confirms it as well. */
function readableUpdate(update: unknown): Record<string, unknown>[] {
  const isObject = typeof update === 'object' && update !== null && !Array.isArray(update);
  const fields = (isObject ? update : {}) as Record<string, unknown>;
  return Number.isSafeInteger(fields.update_id) ? [fields] : [];
}

/** An update that is not what the Bot API documents is passed over: it would come again and stop the stream for good. */
function readUpdate(update: Record<string, unknown>): TelegramUpdate[] {
  const kind = MESSAGE_KINDS.find((name) => update[name] !== undefined);
  if (kind === undefined) return [];
  try {
    return [{ updateId: integerOf(update.update_id), message: readMessage(update[kind]) }];
  } catch (error) {
    if (error instanceof ConnectorError) return [];
    throw error;
  }
}

/** A message and its edits may come in one batch; the store takes a row once per statement. */
function lastOfEach(received: readonly TelegramUpdate[]): TelegramUpdate[] {
  const byMessage = new Map(
    received.map((entry) => [`${entry.message.chat.id}/${entry.message.message_id}`, entry] as const),
  );
  return [...byMessage.values()];
}

/** Another call reads the same stream: what it brings is what this one would have brought. */
async function waitForOther(context: TelegramContext, key: BotKey): Promise<void> {
  for (let waitedMs = 0; waitedMs < WAIT_MS_MAX; waitedMs += WAIT_STEP_MS) {
    await sleep(WAIT_STEP_MS, undefined, { signal: context.signal });
    if (!(await isPolling(context.database, key))) return;
  }
}
