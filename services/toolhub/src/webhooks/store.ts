import { type Queryable, queryByTenant, type TenantStatement } from '@libs/db';
import type { EventType } from '../events/event.ts';
import { DELIVERY_SCHEMA } from './rules.ts';
import type { UnreachedCustomer, UnreachedPage, WebhookConfig } from './webhook.ts';

interface ConfigRow {
  customer_id: string;
  webhook_url: string;
  events: EventType[] | null;
  secret_sealed: Buffer;
  created_at: Date;
}

const COLUMNS = 'customer_id, webhook_url, events, secret_sealed, created_at';

export interface StoredConfig extends WebhookConfig {
  secretSealed: Buffer;
}

function fromRow(row: ConfigRow): StoredConfig {
  return {
    customerId: row.customer_id,
    webhookUrl: row.webhook_url,
    events: row.events,
    secretSealed: row.secret_sealed,
    createdAt: row.created_at,
  };
}

/** Takes the place of the one before. */
export async function putConfig(tx: Queryable, config: StoredConfig): Promise<void> {
  await tx.query(
    `insert into webhook_configs (${COLUMNS}) values ($1, $2, $3, $4, $5)
     on conflict (customer_id) do update set webhook_url = excluded.webhook_url, events = excluded.events,
       secret_sealed = excluded.secret_sealed, created_at = excluded.created_at`,
    [config.customerId, config.webhookUrl, config.events, config.secretSealed, config.createdAt],
  );
}

export async function findConfig(db: Queryable, customerId: string): Promise<StoredConfig | undefined> {
  const { rows } = await db.query<ConfigRow>(
    { name: 'webhooks.find', text: `select ${COLUMNS} from webhook_configs where customer_id = $1` },
    [customerId],
  );
  return rows[0] && fromRow(rows[0]);
}

/** Until the transaction ends, nobody else changes the webhook or what is decided under this lock. */
export async function lockConfig(tx: Queryable, customerId: string): Promise<StoredConfig | undefined> {
  const { rows } = await tx.query<ConfigRow>(
    `select ${COLUMNS} from webhook_configs where customer_id = $1 for update`,
    [customerId],
  );
  return rows[0] && fromRow(rows[0]);
}

export async function deleteConfig(tx: Queryable, customerId: string): Promise<boolean> {
  const { rowCount } = await tx.query('delete from webhook_configs where customer_id = $1', [customerId]);
  return rowCount === 1;
}

export async function findConfigs(db: Queryable, customerIds: readonly string[]): Promise<StoredConfig[]> {
  const wanted = customerIds.map((tenantId) => ({ tenantId }));
  const rows = await queryByTenant<ConfigRow, (typeof wanted)[number]>(db, FIND_MANY, wanted, (some) => [
    some.map(({ tenantId }) => tenantId),
  ]);
  return rows.map(fromRow);
}

const FIND_MANY: TenantStatement = {
  together: {
    name: 'webhooks.find_many',
    text: `select ${COLUMNS} from unnest($1::text[]) as wanted (customer_id) join webhook_configs using (customer_id)`,
  },
  apart: {
    name: 'webhooks.find_many.apart',
    text: `select ${COLUMNS} from webhook_configs where customer_id = ($1::text[])[1]`,
  },
};

/** Whose deliveries were given up, those first where that was last; one that was replayed may die again. */
export async function listCustomersWithDeadLetters(
  db: Queryable,
  { after, limit }: UnreachedPage,
): Promise<UnreachedCustomer[]> {
  const { rows } = await db.query<{ customer_id: string; count: number; newest_at: Date }>(
    // In milliseconds, as a place in the list is told: what it left out would be behind it or before it by chance.
    `select * from (
       select tenant_id as customer_id, count(*) as count, date_trunc('milliseconds', max(finished_at)) as newest_at
       from ${DELIVERY_SCHEMA}.deliveries where status = 'dead' group by tenant_id
     ) as given_up
     where $2::timestamptz is null or newest_at < $2 or (newest_at = $2 and customer_id > $3)
     order by newest_at desc, customer_id limit $1`,
    [limit, after?.newestAt ?? null, after?.customerId ?? null],
  );
  return rows.map((row) => ({ customerId: row.customer_id, count: row.count, newestAt: row.newest_at }));
}
