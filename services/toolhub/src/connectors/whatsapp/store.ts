import type { Queryable } from '@libs/db';

/** Rows of one customer are never read for another, also when a number has changed hands. */
export interface NumberKey {
  customerId: string;
  phoneNumberId: string;
}

export interface Conversation {
  contact: string;
  name: string | null;
  lastMessageId: string;
  lastMessageAt: Date;
}

/** People who wrote, the newest message first. */
export async function listConversations(
  db: Queryable,
  { customerId, phoneNumberId }: NumberKey,
  filter: { since: Date | undefined; before: { at: Date; contact: string } | undefined; limit: number },
): Promise<Conversation[]> {
  const { rows } = await db.query<{
    contact: string;
    name: string | null;
    last_message_id: string;
    last_message_at: Date;
  }>(
    `select contact, name, last_message_id, last_message_at from whatsapp_contacts
     where customer_id = $1 and phone_number_id = $2
       and ($3::timestamptz is null or last_message_at >= $3)
       and ($4::timestamptz is null or (last_message_at, contact) < ($4, $5))
     order by last_message_at desc, contact desc limit $6`,
    [
      customerId,
      phoneNumberId,
      filter.since ?? null,
      filter.before?.at ?? null,
      filter.before?.contact ?? null,
      filter.limit,
    ],
  );
  return rows.map((row) => ({
    contact: row.contact,
    name: row.name,
    lastMessageId: row.last_message_id,
    lastMessageAt: row.last_message_at,
  }));
}

export interface StoredMessage {
  messageId: string;
  sentAt: Date;
  /** The vendor's own object. */
  message: Record<string, unknown>;
}

/** Messages of one person, newest first. */
export async function listMessages(
  db: Queryable,
  { customerId, phoneNumberId }: NumberKey,
  filter: {
    contact: string;
    since: Date | undefined;
    before: { at: Date; messageId: string } | undefined;
    limit: number;
  },
): Promise<StoredMessage[]> {
  const { rows } = await db.query<{ message_id: string; sent_at: Date; message: Record<string, unknown> }>(
    `select message_id, sent_at, message from whatsapp_messages
     where customer_id = $1 and phone_number_id = $2 and contact = $3
       and ($4::timestamptz is null or sent_at >= $4)
       and ($5::timestamptz is null or (sent_at, message_id) < ($5, $6))
     order by sent_at desc, message_id desc limit $7`,
    [
      customerId,
      phoneNumberId,
      filter.contact,
      filter.since ?? null,
      filter.before?.at ?? null,
      filter.before?.messageId ?? null,
      filter.limit,
    ],
  );
  return rows.map((row) => ({ messageId: row.message_id, sentAt: row.sent_at, message: row.message }));
}
