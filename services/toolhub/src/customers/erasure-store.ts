import type { Queryable } from '@libs/db';
import { DELIVERY_SCHEMA } from '../webhooks/rules.ts';

/*
 * A deliberate exception to "a feature writes its own tables": the end of an account touches all of them, and one list
 * that a test holds against the catalogue forgets none. Invoices stay, which the law makes us keep.
 */

/** Rows that go with the customer's own row by a foreign key are not listed. */
export const ERASED_TABLES = [
  'credentials',
  'audit_entries',
  'events',
  'health_reports',
  'idempotent_calls',
  'passkey_challenges',
  'usage_counters',
  'usage_reservations',
  'usage_daily',
  'usage_recent',
  'told_thresholds',
  'telegram_messages',
  'telegram_bots',
  'whatsapp_messages',
  'whatsapp_contacts',
  'whatsapp_statuses',
  'inbound_accounts',
  'inbound_messages',
  'token_owners',
] as const;
export const KEPT_TABLES = ['invoices'] as const;

export async function listTokenIds(tx: Queryable, customerId: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from personal_tokens where customer_id = $1
     union all select id from oauth_tokens where customer_id = $1 and kind = 'access'`,
    [customerId],
  );
  return rows.map(({ id }) => id);
}

/**
 * What lets programs in, what they were allowed and what they ask for, where news of the account goes, and what its tools act with. Who
 * notes a waiting call locks the rules before it, and who decides on one locks it before what is remembered: in that order nothing is
 * left of either.
 */
const ACCESS_TABLES = [
  'personal_tokens',
  'oauth_tokens',
  'oauth_auth_codes',
  'approval_rules',
  'approvals',
  'approval_remembered',
  'tool_switches',
  'connect_states',
  'webhook_configs',
  'credentials',
  'health_reports',
] as const;

/** From here on no request that is under way makes a token: each holds the grant that it is made of. */
export async function deleteGrants(tx: Queryable, customerId: string): Promise<void> {
  await tx.query('delete from oauth_grants where customer_id = $1', [customerId]);
}

export async function deleteAccess(tx: Queryable, customerId: string): Promise<void> {
  for (const table of ACCESS_TABLES) {
    await tx.query(`delete from ${table} where customer_id = $1`, [customerId]);
  }
}

/** Before platforms forget the customer: nothing is begun for one whose credential is gone, and who begins holds it. */
export async function deleteCredentials(tx: Queryable, customerId: string): Promise<void> {
  await tx.query('delete from credentials where customer_id = $1', [customerId]);
}

/** The account itself, what leads to it and what opens its platforms. */
export async function deleteAccount(tx: Queryable, customerId: string): Promise<void> {
  await tx.query('delete from customer_emails where customer_id = $1', [customerId]);
  await deleteCredentials(tx, customerId);
  await tx.query('delete from customers where id = $1', [customerId]);
}

/** A bounded number of rows; 0 when nothing is left. */
export async function deleteRowsOf(db: Queryable, customerId: string, limit: number): Promise<number> {
  for (const table of ERASED_TABLES) {
    const { rowCount } = await db.query(
      // Rows of different parts of a table can have the same place, so the owner is asked for twice.
      `delete from ${table} where customer_id = $1
         and ctid = any (array(select ctid from ${table} where customer_id = $1 limit $2))`,
      [customerId, limit],
    );
    if (rowCount > 0) return rowCount;
  }
  // The rows stay, for nobody: what a bot still sends there is answered by having Telegram forget the address.
  await db.query('update telegram_webhooks set customer_id = null, is_set = false where customer_id = $1', [
    customerId,
  ]);
  const { rowCount } = await db.query(
    `delete from ${DELIVERY_SCHEMA}.deliveries where tenant_id = $1 and ctid = any
       (array(select ctid from ${DELIVERY_SCHEMA}.deliveries where tenant_id = $1 limit $2))`,
    [customerId, limit],
  );
  return rowCount;
}
