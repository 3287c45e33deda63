import type { Queryable } from '@libs/db';

export interface InboxEntry {
  id: string;
  receivedAt: Date;
  body: Buffer;
}

export async function insertInbox(tx: Queryable, entry: InboxEntry & { signature: string }): Promise<void> {
  await tx.query('insert into whatsapp_inbox (id, received_at, signature, body) values ($1, $2, $3, $4)', [
    entry.id,
    entry.receivedAt,
    entry.signature,
    entry.body,
  ]);
}

/** Undefined where somebody has worked on it already. */
export async function findUnprocessed(db: Queryable, id: string): Promise<InboxEntry | undefined> {
  const { rows } = await db.query<{ received_at: Date; body: Buffer }>(
    'select received_at, body from whatsapp_inbox where id = $1 and processed_at is null',
    [id],
  );
  return rows[0] && { id, receivedAt: rows[0].received_at, body: rows[0].body };
}

/** False when another worker was faster; then nothing of this one may be committed. */
export async function markProcessed(
  tx: Queryable,
  mark: { id: string; at: Date; problem: string | null },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    'update whatsapp_inbox set processed_at = $2, problem = $3 where id = $1 and processed_at is null',
    [mark.id, mark.at, mark.problem],
  );
  return rowCount === 1;
}

/** Bodies that were worked on without a problem and that are past their time; at most `limit` at once. */
export async function deleteProcessedBefore(
  db: Queryable,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from whatsapp_inbox where id in (
       select id from whatsapp_inbox where processed_at < $1 and problem is null order by processed_at limit $2)`,
    [before, limit],
  );
  return rowCount;
}

/** The same for those that something was the matter with, which are few: no index leads to them. */
export async function deleteProblemsBefore(
  db: Queryable,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from whatsapp_inbox where id in (
       select id from whatsapp_inbox where processed_at < $1 and problem is not null limit $2)`,
    [before, limit],
  );
  return rowCount;
}

/**
 * Whose numbers these are; null for nobody's. A number that is new gets a row of its own, so that there is something
 * to lock: until the transaction ends nobody can claim or release any of them, and what is stored as unclaimed is
 * there when the next claim looks for it.
 */
export async function lockOwners(
  tx: Queryable,
  { phoneNumberIds, now }: { phoneNumberIds: readonly string[]; now: Date },
): Promise<Map<string, string | null>> {
  const sorted = [...new Set(phoneNumberIds)].sort();
  await tx.query(
    `insert into phone_numbers (phone_number_id, first_seen_at)
     select id, $2 from unnest($1::text[]) as new (id) order by id on conflict do nothing`,
    [sorted, now],
  );
  const { rows } = await tx.query<{ phone_number_id: string; customer_id: string | null }>(
    `select phone_number_id, customer_id from phone_numbers where phone_number_id = any($1)
     order by phone_number_id for share`,
    [sorted],
  );
  return new Map(rows.map((row) => [row.phone_number_id, row.customer_id]));
}

/** The customers that these numbers belong to now. */
export async function findNumberOwners(db: Queryable, phoneNumberIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ customer_id: string }>(
    `select distinct customer_id from phone_numbers where phone_number_id = any($1) and customer_id is not null`,
    [phoneNumberIds],
  );
  return rows.map((row) => row.customer_id);
}

/** False when the number belongs to another customer. */
export async function setOwner(
  tx: Queryable,
  claim: { phoneNumberId: string; customerId: string; at: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into phone_numbers as known (phone_number_id, customer_id, claimed_at, first_seen_at)
     values ($1, $2, $3, $3)
     on conflict (phone_number_id) do update set customer_id = excluded.customer_id,
       claimed_at = case when known.customer_id is null then excluded.claimed_at else known.claimed_at end
     where known.customer_id is null or known.customer_id = excluded.customer_id`,
    [claim.phoneNumberId, claim.customerId, claim.at],
  );
  return rowCount === 1;
}

/** The customer's numbers, but for the one that stays; they belong to nobody now. */
export async function clearOwner(
  tx: Queryable,
  query: { customerId: string; except: string | null },
): Promise<string[]> {
  const { rows } = await tx.query<{ phone_number_id: string }>(
    `update phone_numbers set customer_id = null, claimed_at = null
     where customer_id = $1 and phone_number_id is distinct from $2 returning phone_number_id`,
    [query.customerId, query.except],
  );
  return rows.map((row) => row.phone_number_id);
}

/** Everything that was stored for the customer under these numbers. */
export async function deleteReceived(
  tx: Queryable,
  key: { customerId: string; phoneNumberIds: readonly string[] },
): Promise<void> {
  for (const table of ['whatsapp_messages', 'whatsapp_contacts', 'whatsapp_statuses'])
    await tx.query(`delete from ${table} where customer_id = $1 and phone_number_id = any($2)`, [
      key.customerId,
      key.phoneNumberIds,
    ]);
}

export interface StoredItem {
  phoneNumberId: string;
  kind: 'message' | 'status';
  key: string;
  receivedAt: Date;
  /** JSON. */
  item: string;
}

export async function insertUnclaimed(tx: Queryable, items: readonly StoredItem[]): Promise<void> {
  await tx.query(
    `insert into whatsapp_unclaimed (phone_number_id, kind, key, received_at, item)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::json[])
     on conflict do nothing`,
    [
      items.map(({ phoneNumberId }) => phoneNumberId),
      items.map(({ kind }) => kind),
      items.map(({ key }) => key),
      items.map(({ receivedAt }) => receivedAt),
      items.map(({ item }) => item),
    ],
  );
}

/** Takes what waited for the owner of a number, the oldest first. */
export async function takeUnclaimed(
  tx: Queryable,
  query: { phoneNumberId: string; limit: number },
): Promise<StoredItem[]> {
  const { rows } = await tx.query<{ kind: StoredItem['kind']; key: string; received_at: Date; item: string }>(
    `delete from whatsapp_unclaimed where (phone_number_id, kind, key) in (
       select phone_number_id, kind, key from whatsapp_unclaimed where phone_number_id = $1
       order by received_at, kind, key limit $2
     ) returning kind, key, received_at, item::text as item`,
    [query.phoneNumberId, query.limit],
  );
  return rows
    .map((row) => ({
      phoneNumberId: query.phoneNumberId,
      kind: row.kind,
      key: row.key,
      receivedAt: row.received_at,
      item: row.item,
    }))
    .sort((a, b) => a.receivedAt.getTime() - b.receivedAt.getTime() || (a.key < b.key ? -1 : 1));
}

export interface NewMessage {
  customerId: string;
  phoneNumberId: string;
  messageId: string;
  contact: string;
  contactName: string | null;
  sentAt: Date;
  receivedAt: Date;
  /** JSON. */
  message: string;
}

/** False for a message that is there already. */
export async function insertMessage(tx: Queryable, message: NewMessage): Promise<boolean> {
  const { rowCount } = await tx.query(
    {
      name: 'inbound.insert_message',
      text: `with added as (
          insert into whatsapp_messages
            (customer_id, phone_number_id, message_id, contact, contact_name, sent_at, received_at, message)
          values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing
          returning customer_id
        )
        insert into whatsapp_contacts as known
          (customer_id, phone_number_id, contact, name, last_message_id, last_message_at)
        select $1, $2, $4, $5, $3, $6 from added
        on conflict (customer_id, phone_number_id, contact) do update set
          name = coalesce(excluded.name, known.name),
          last_message_id = case when excluded.last_message_at >= known.last_message_at
            then excluded.last_message_id else known.last_message_id end,
          last_message_at = greatest(excluded.last_message_at, known.last_message_at)`,
    },
    [
      message.customerId,
      message.phoneNumberId,
      message.messageId,
      message.contact,
      message.contactName,
      message.sentAt,
      message.receivedAt,
      message.message,
    ],
  );
  return rowCount === 1;
}

/** False for a status that is there already. */
export async function insertStatus(
  tx: Queryable,
  status: { customerId: string; phoneNumberId: string; messageId: string; state: string; at: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    {
      name: 'inbound.insert_status',
      text: `insert into whatsapp_statuses (customer_id, phone_number_id, message_id, status, at)
        values ($1, $2, $3, $4, $5) on conflict do nothing`,
    },
    [status.customerId, status.phoneNumberId, status.messageId, status.state, status.at],
  );
  return rowCount === 1;
}
