import type { Queryable } from '@libs/db';
import type { MessageVault } from '../../message-vault.ts';
import type { RailMessage } from '../../rail.ts';
import {
  findContents,
  findReports,
  insertMessages,
  type NetworkMessage,
  type RtpMessageKey,
} from './message-store.ts';
import { findShown } from './shown-store.ts';

/** Messages on their way into the database and out of it: sealed there, in the clear here. */

export async function keepMessages(
  tx: Queryable,
  vault: MessageVault,
  messages: readonly NetworkMessage[],
): Promise<void> {
  await insertMessages(
    tx,
    messages.map(({ content, ...message }) => ({ ...message, ...vault.keep(message, content) })),
  );
}

/** The text of stored messages by their id. */
export async function openMessages(
  db: Queryable,
  vault: MessageVault,
  keys: readonly RtpMessageKey[],
): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const absent: RtpMessageKey[] = [];
  for (const key of keys) {
    const text = vault.recall(key.id);
    if (text === undefined) absent.push(key);
    else texts.set(key.id, text);
  }
  if (absent.length === 0) return texts;
  for (const kept of await findContents(db, absent)) texts.set(kept.id, vault.open(kept, kept));
  return texts;
}

/** The reports that were received before about these payments. */
export async function openReports(
  db: Queryable,
  vault: MessageVault,
  payments: readonly Omit<RtpMessageKey, 'id'>[],
): Promise<string[]> {
  return (await findReports(db, payments)).map((kept) => vault.open(kept, kept));
}

/** What a payment's owner may read: every message of it. */
export async function shownMessages(
  db: Queryable,
  vault: MessageVault,
  key: { tenantId: string; id: string },
): Promise<RailMessage[]> {
  return (await findShown(db, key)).map(({ content, contentSealed, packedSealed, ...message }) => ({
    ...message,
    content: vault.open({ tenantId: key.tenantId, id: message.id }, { content, contentSealed, packedSealed }),
  }));
}
