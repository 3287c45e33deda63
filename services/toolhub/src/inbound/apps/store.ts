import type { Queryable } from '@libs/db';
import type { ArrivedMessage, ArrivedQuery } from './arrived.ts';

export interface DeliveryKey {
  platform: string;
  deliveryId: string;
}

export interface StoredDelivery extends DeliveryKey {
  receivedAt: Date;
  body: Buffer;
}

/** False for a repeat. */
export async function insertDelivery(
  tx: Queryable,
  delivery: StoredDelivery & { signature: string },
): Promise<boolean> {
  const { platform, deliveryId, receivedAt, signature, body } = delivery;
  const { rowCount } = await tx.query(
    `insert into inbound_deliveries (platform, delivery_id, received_at, signature, body)
     values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [platform, deliveryId, receivedAt, signature, body],
  );
  return rowCount === 1;
}

/** One that nobody has worked on yet. */
export async function findUnprocessedDelivery(
  db: Queryable,
  { platform, deliveryId }: DeliveryKey,
): Promise<StoredDelivery | undefined> {
  const { rows } = await db.query<{ received_at: Date; body: Buffer }>(
    `select received_at, body from inbound_deliveries
     where platform = $1 and delivery_id = $2 and processed_at is null`,
    [platform, deliveryId],
  );
  return rows[0] && { platform, deliveryId, receivedAt: rows[0].received_at, body: rows[0].body };
}

/** False when another worker was faster; then nothing of this one may be committed. */
export async function markDeliveryProcessed(
  tx: Queryable,
  { platform, deliveryId }: DeliveryKey,
  mark: { at: Date; problem: string | null },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update inbound_deliveries set processed_at = $3, problem = $4
     where platform = $1 and delivery_id = $2 and processed_at is null`,
    [platform, deliveryId, mark.at, mark.problem],
  );
  return rowCount === 1;
}

/**
 * Until the transaction ends nobody can claim these accounts, nor give them up, while something is stored for them, nor the
 * reverse: what is stored as unclaimed is there when the next claim looks for it, and nothing comes after who gave up.
 */
export async function lockAccounts(
  tx: Queryable,
  {
    platform,
    accounts,
    exclusively,
  }: { platform: string; accounts: readonly string[]; exclusively: boolean },
): Promise<void> {
  const lock = exclusively ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
  for (const account of [...new Set(accounts)].sort())
    await tx.query(`select ${lock}(hashtextextended($1, 0))`, [`inbound ${platform} ${account}`]);
}

/** The customers of each account, in the order of their ids. */
export async function findOwners(
  tx: Queryable,
  { platform, accounts }: { platform: string; accounts: readonly string[] },
): Promise<Map<string, string[]>> {
  const { rows } = await tx.query<{ account: string; customer_id: string }>(
    `select account, customer_id from inbound_accounts where platform = $1 and account = any($2)
     order by account, customer_id`,
    [platform, accounts],
  );
  const owners = new Map<string, string[]>();
  for (const row of rows) owners.set(row.account, [...(owners.get(row.account) ?? []), row.customer_id]);
  return owners;
}

export async function insertAccount(
  tx: Queryable,
  claim: { platform: string; account: string; customerId: string; at: Date },
): Promise<void> {
  await tx.query(
    `insert into inbound_accounts (platform, account, customer_id, claimed_at) values ($1, $2, $3, $4)
     on conflict do nothing`,
    [claim.platform, claim.account, claim.customerId, claim.at],
  );
}

export async function listAccounts(
  tx: Queryable,
  { platform, customerId }: { platform: string; customerId: string },
): Promise<string[]> {
  const { rows } = await tx.query<{ account: string }>(
    'select account from inbound_accounts where platform = $1 and customer_id = $2',
    [platform, customerId],
  );
  return rows.map(({ account }) => account);
}

/** The customer's accounts at the platform, but for the one that stays; they are nobody's of this customer now. */
export async function releaseAccounts(
  tx: Queryable,
  key: { platform: string; customerId: string; except: string | null },
): Promise<string[]> {
  const { rows } = await tx.query<{ account: string }>(
    `delete from inbound_accounts
     where platform = $1 and customer_id = $2 and account is distinct from $3 returning account`,
    [key.platform, key.customerId, key.except],
  );
  return rows.map(({ account }) => account);
}

export async function deleteReceivedMessages(
  tx: Queryable,
  key: { platform: string; customerId: string; accounts: readonly string[] },
): Promise<void> {
  await tx.query(
    'delete from inbound_messages where customer_id = $1 and platform = $2 and account = any($3)',
    [key.customerId, key.platform, key.accounts],
  );
}

export interface WaitingItem {
  platform: string;
  account: string;
  key: string;
  receivedAt: Date;
  /** JSON. */
  item: string;
}

export async function insertWaiting(tx: Queryable, waiting: WaitingItem): Promise<void> {
  await tx.query(
    `insert into inbound_unclaimed (platform, account, message_key, received_at, item)
     values ($1, $2, $3, $4, $5) on conflict do nothing`,
    [waiting.platform, waiting.account, waiting.key, waiting.receivedAt, waiting.item],
  );
}

/** Takes what waited for somebody to connect the account, the oldest first. */
export async function takeWaiting(
  tx: Queryable,
  query: { platform: string; account: string; limit: number },
): Promise<{ receivedAt: Date; item: string }[]> {
  const { rows } = await tx.query<{ received_at: Date; item: string; message_key: string }>(
    `delete from inbound_unclaimed where (platform, account, message_key) in (
       select platform, account, message_key from inbound_unclaimed where platform = $1 and account = $2
       order by received_at, message_key limit $3
     ) returning received_at, message_key, item::text as item`,
    [query.platform, query.account, query.limit],
  );
  return rows
    .sort(
      (a, b) => a.received_at.getTime() - b.received_at.getTime() || (a.message_key < b.message_key ? -1 : 1),
    )
    .map((row) => ({ receivedAt: row.received_at, item: row.item }));
}

export interface ReceivedAppMessage {
  customerId: string;
  platform: string;
  account: string;
  key: string;
  channel: string;
  sentAt: Date;
  receivedAt: Date;
  /** JSON. */
  message: string;
}

/** False for a message that is there already. */
export async function insertAppMessage(tx: Queryable, message: ReceivedAppMessage): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into inbound_messages
       (customer_id, platform, account, message_key, channel, sent_at, received_at, message)
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
    [
      ...[message.customerId, message.platform, message.account, message.key, message.channel],
      ...[message.sentAt, message.receivedAt, message.message],
    ],
  );
  return rowCount === 1;
}

/** Newest first. */
export async function listAppMessages(db: Queryable, query: ArrivedQuery): Promise<ArrivedMessage[]> {
  const { customerId, platform, channel, since, before, limit } = query;
  const { rows } = await db.query<{
    account: string;
    message_key: string;
    channel: string;
    sent_at: Date;
    received_at: Date;
    message: Record<string, unknown>;
  }>(
    {
      name: 'inbound.list_messages',
      text: `select account, message_key, channel, sent_at, received_at, message from inbound_messages
        where customer_id = $1 and platform = $2
          and ($3::text is null or channel = $3)
          and ($4::timestamptz is null or sent_at >= $4)
          and ($5::timestamptz is null or (sent_at, account, message_key) < ($5, $6::text, $7::text))
        order by sent_at desc, account desc, message_key desc
        limit $8`,
    },
    [
      ...[customerId, platform, channel ?? null, since ?? null],
      ...[before?.sentAt ?? null, before?.account ?? null, before?.key ?? null, limit],
    ],
  );
  return rows.map((row) => ({
    ...{ account: row.account, key: row.message_key, channel: row.channel },
    ...{ sentAt: row.sent_at, receivedAt: row.received_at, message: row.message },
  }));
}

/** What is past its time: bodies that were worked on without a problem, messages, and what nobody claimed. */
export async function deleteOldArrivals(
  db: Queryable,
  before: { deliveries: Date; unclaimed: Date; messages: Date; limit: number },
): Promise<number> {
  const { limit } = before;
  const deliveries = await db.query(
    `delete from inbound_deliveries where (platform, delivery_id) in (
       select platform, delivery_id from inbound_deliveries where processed_at < $1 and problem is null limit $2)`,
    [before.deliveries, limit],
  );
  const unclaimed = await db.query(
    `delete from inbound_unclaimed where (platform, account, message_key) in (
       select platform, account, message_key from inbound_unclaimed where received_at < $1 limit $2)`,
    [before.unclaimed, limit],
  );
  const messages = await db.query(
    `delete from inbound_messages where (customer_id, platform, account, message_key) in (
       select customer_id, platform, account, message_key from inbound_messages where received_at < $1 limit $2)`,
    [before.messages, limit],
  );
  return Math.max(deliveries.rowCount, unclaimed.rowCount, messages.rowCount);
}

/** Bodies past their time that nothing could be made of, which are few: no index leads to them. */
export async function deleteOldProblems(
  db: Queryable,
  { deliveries, limit }: { deliveries: Date; limit: number },
): Promise<number> {
  const { rowCount } = await db.query(
    `delete from inbound_deliveries where (platform, delivery_id) in (
       select platform, delivery_id from inbound_deliveries
       where processed_at < $1 and problem is not null limit $2)`,
    [deliveries, limit],
  );
  return rowCount;
}
