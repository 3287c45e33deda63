import { type Queryable, queryByTenant, type TenantStatement } from '@libs/db';
import type { Subscription, Subscriptions, WebhookEndpoint } from './endpoint.ts';

interface EndpointRow {
  tenant_id: string;
  id: string;
  url: string;
  events: WebhookEndpoint['events'];
  description: string | null;
  status: WebhookEndpoint['status'];
  disabled_reason: WebhookEndpoint['disabledReason'];
  secrets_sealed: Buffer;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS =
  'tenant_id, id, url, events, description, status, disabled_reason, secrets_sealed, created_at, updated_at';

function fromRow(row: EndpointRow): WebhookEndpoint {
  return {
    tenantId: row.tenant_id,
    id: row.id,
    url: row.url,
    events: row.events,
    description: row.description,
    status: row.status,
    disabledReason: row.disabled_reason,
    secretsSealed: row.secrets_sealed,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export interface EndpointKey {
  tenantId: string;
  id: string;
}

/** Two that count and add at the same time must not both find room. */
export async function lockEndpointsOf(tx: Queryable, tenantId: string): Promise<number> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 3))', [tenantId]);
  const { rows } = await tx.query<{ count: number }>(
    'select count(*)::int as count from webhook_endpoints where tenant_id = $1',
    [tenantId],
  );
  return rows[0]?.count ?? 0;
}

export async function insertEndpoint(tx: Queryable, endpoint: WebhookEndpoint): Promise<void> {
  await tx.query(
    `insert into webhook_endpoints (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      endpoint.tenantId,
      endpoint.id,
      endpoint.url,
      endpoint.events,
      endpoint.description,
      endpoint.status,
      endpoint.disabledReason,
      endpoint.secretsSealed,
      endpoint.createdAt,
      endpoint.updatedAt,
    ],
  );
}

export async function findEndpoint(db: Queryable, key: EndpointKey): Promise<WebhookEndpoint | undefined> {
  const { rows } = await db.query<EndpointRow>(
    `select ${COLUMNS} from webhook_endpoints where tenant_id = $1 and id = $2`,
    [key.tenantId, key.id],
  );
  return rows[0] && fromRow(rows[0]);
}

export async function lockEndpoint(tx: Queryable, key: EndpointKey): Promise<WebhookEndpoint | undefined> {
  const { rows } = await tx.query<EndpointRow>(
    `select ${COLUMNS} from webhook_endpoints where tenant_id = $1 and id = $2 for update`,
    [key.tenantId, key.id],
  );
  return rows[0] && fromRow(rows[0]);
}

/** Newest first. */
export async function listEndpoints(
  db: Queryable,
  tenantId: string,
  page: { beforeId: string | null; limit: number },
): Promise<WebhookEndpoint[]> {
  const { rows } = await db.query<EndpointRow>(
    `select ${COLUMNS} from webhook_endpoints where tenant_id = $1 and ($2::text is null or id < $2)
     order by id desc limit $3`,
    [tenantId, page.beforeId, page.limit],
  );
  return rows.map(fromRow);
}

export async function countDisabledEndpoints(db: Queryable, tenantId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from webhook_endpoints where tenant_id = $1 and status = 'disabled'`,
    [tenantId],
  );
  return rows[0]?.count ?? 0;
}

export async function updateEndpoint(tx: Queryable, endpoint: WebhookEndpoint): Promise<void> {
  await tx.query(
    `update webhook_endpoints set url = $3, events = $4, description = $5, status = $6, disabled_reason = $7,
       secrets_sealed = $8, updated_at = $9
     where tenant_id = $1 and id = $2`,
    [
      endpoint.tenantId,
      endpoint.id,
      endpoint.url,
      endpoint.events,
      endpoint.description,
      endpoint.status,
      endpoint.disabledReason,
      endpoint.secretsSealed,
      endpoint.updatedAt,
    ],
  );
}

/** All that a tenant has: their number is bounded. */
export async function lockEndpoints(tx: Queryable, tenantId: string): Promise<WebhookEndpoint[]> {
  const { rows } = await tx.query<EndpointRow>(
    `select ${COLUMNS} from webhook_endpoints where tenant_id = $1 order by id for update`,
    [tenantId],
  );
  return rows.map(fromRow);
}

/** A row is where its tenant is, so it goes there and comes here. */
export async function moveEndpoint(
  tx: Queryable,
  endpoint: WebhookEndpoint,
  to: { tenantId: string; secretsSealed: Buffer },
): Promise<void> {
  await deleteEndpoint(tx, endpoint);
  await insertEndpoint(tx, { ...endpoint, ...to });
}

export async function deleteEndpoint(tx: Queryable, key: EndpointKey): Promise<void> {
  await tx.query('delete from webhook_endpoints where tenant_id = $1 and id = $2', [key.tenantId, key.id]);
}

/** Endpoints of any tenants that are switched on. */
export async function findEnabledEndpoints(
  db: Queryable,
  keys: readonly EndpointKey[],
): Promise<WebhookEndpoint[]> {
  const rows = await queryByTenant<EndpointRow, EndpointKey>(db, FIND_ENABLED, keys, (some) => [
    some.map((key) => key.tenantId),
    some.map((key) => key.id),
  ]);
  return rows.map(fromRow);
}

const FIND_ENABLED: TenantStatement = {
  together: {
    name: 'webhooks.endpoints',
    text: `select ${COLUMNS} from unnest($1::text[], $2::text[]) as wanted (tenant_id, id)
      join webhook_endpoints using (tenant_id, id) where status = 'enabled'`,
  },
  apart: {
    name: 'webhooks.endpoints.apart',
    text: `select ${COLUMNS} from webhook_endpoints
      where tenant_id = ($1::text[])[1] and id = any($2::text[]) and status = 'enabled'`,
  },
};

/** The same, until the transaction ends; in one order, so that two who lock several never wait for each other. */
export async function lockEnabledEndpoints(
  tx: Queryable,
  keys: readonly EndpointKey[],
): Promise<WebhookEndpoint[]> {
  const ordered = keys.toSorted((a, b) => (`${a.tenantId} ${a.id}` < `${b.tenantId} ${b.id}` ? -1 : 1));
  const rows = await queryByTenant<EndpointRow, EndpointKey>(tx, LOCK_ENABLED, ordered, (some) => [
    some.map((key) => key.tenantId),
    some.map((key) => key.id),
  ]);
  return rows.map(fromRow);
}

const LOCK_ENABLED: TenantStatement = {
  together: {
    name: 'webhooks.endpoints.lock',
    text: `select e.* from unnest($1::text[], $2::text[]) as wanted (tenant_id, id)
      cross join lateral (select ${COLUMNS} from webhook_endpoints e where e.tenant_id = wanted.tenant_id
        and e.id = wanted.id and e.status = 'enabled' limit 1 for update) as e`,
  },
  apart: {
    name: 'webhooks.endpoints.lock.apart',
    text: `select ${COLUMNS} from webhook_endpoints
      where tenant_id = ($1::text[])[1] and id = any($2::text[]) and status = 'enabled' order by id for update`,
  },
};

/** What the tenants' endpoints that are switched on want to hear of. */
export async function loadSubscriptions(db: Queryable, tenantIds: readonly string[]): Promise<Subscriptions> {
  const { rows } = await db.query<{ tenant_id: string; id: string; events: string[] }>(
    {
      name: 'webhooks.subscriptions',
      text: `select tenant_id, id, events from webhook_endpoints
        where tenant_id = any($1) and status = 'enabled'`,
    },
    [tenantIds],
  );
  const subscriptions = new Map<string, Subscription[]>();
  for (const { tenant_id: tenantId, id: endpointId, events } of rows) {
    const ofTenant = subscriptions.get(tenantId);
    if (ofTenant === undefined) subscriptions.set(tenantId, [{ endpointId, events }]);
    else ofTenant.push({ endpointId, events });
  }
  return subscriptions;
}
