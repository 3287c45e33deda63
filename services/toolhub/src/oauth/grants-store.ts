import type { Queryable } from '@libs/db';
import { atTokenOwner, grantKey, noteTokenOwner } from '../token-owners-store.ts';
import type { Payload } from './store.ts';

/** A client that a customer let in and that can still come in. */
export interface ConnectedClient {
  id: string;
  name: string;
  scopes: string[];
  connectedAt: Date;
  /** When it last got a token. */
  lastSeenAt: Date;
}

/** A place in the list, good also when the client that stood there has gone. */
export type ClientPlace = Pick<ConnectedClient, 'connectedAt' | 'id'>;

export async function listConnectedClients(
  db: Queryable,
  query: { customerId: string; before: ClientPlace | undefined; limit: number; now: Date },
): Promise<ConnectedClient[]> {
  const { rows } = await db.query<{
    id: string;
    name: string;
    scope: string;
    connected_at: Date;
    last_seen_at: Date;
  }>(
    `select consent.id, coalesce(client.metadata ->> 'client_name', consent.client_id) as name,
       coalesce(consent.payload #>> '{openid,scope}', '') as scope, consent.created_at as connected_at,
       max(token.created_at) as last_seen_at
     from oauth_grants as consent
     join oauth_tokens as token on token.customer_id = consent.customer_id and token.grant_id = consent.id
       and token.expires_at > $4 and not token.used
     left join oauth_clients as client on client.id = consent.client_id
     where consent.customer_id = $1
       and ($2::timestamptz is null or (consent.created_at, consent.id) < ($2, $5))
     group by consent.customer_id, consent.id, client.metadata
     order by consent.created_at desc, consent.id desc limit $3`,
    [query.customerId, query.before?.connectedAt ?? null, query.limit, query.now, query.before?.id ?? null],
  );
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    scopes: row.scope.split(' ').filter((scope) => scope !== ''),
    connectedAt: row.connected_at,
    lastSeenAt: row.last_seen_at,
  }));
}

export async function grantBelongsTo(
  db: Queryable,
  grant: { customerId: string; id: string },
): Promise<boolean> {
  const { rowCount } = await db.query(
    'select 1 from oauth_grants where customer_id = $1 and id = $2 for update',
    [grant.customerId, grant.id],
  );
  return rowCount === 1;
}

/** Of one customer, or of any. */
export async function hasGrantFor(
  db: Queryable,
  { clientId, customerId }: { clientId: string; customerId: string | null },
): Promise<boolean> {
  const { rowCount } = await db.query(
    'select 1 from oauth_grants where client_id = $1 and ($2::text is null or customer_id = $2) limit 1',
    [clientId, customerId],
  );
  return rowCount === 1;
}

/** The client that holds an access token. */
export async function findClientOf(
  db: Queryable,
  token: { customerId: string; id: string },
): Promise<{ clientId: string; grantId: string; name: string } | undefined> {
  const { rows } = await db.query<{ client_id: string; grant_id: string; name: string }>(
    `select token.client_id, token.grant_id, coalesce(client.metadata ->> 'client_name', token.client_id) as name
     from oauth_tokens as token left join oauth_clients as client on client.id = token.client_id
     where token.customer_id = $1 and token.id = $2`,
    [token.customerId, token.id],
  );
  return rows[0] && { clientId: rows[0].client_id, grantId: rows[0].grant_id, name: rows[0].name };
}

export async function upsertGrant(
  db: Queryable,
  grant: {
    customerId: string;
    id: string;
    clientId: string;
    payload: Payload;
    createdAt: Date;
    expiresAt: Date;
  },
): Promise<void> {
  const { customerId, expiresAt, createdAt } = grant;
  await noteTokenOwner(db, { key: grantKey(grant.id), customerId, expiresAt, now: createdAt });
  await db.query(
    `insert into oauth_grants (customer_id, id, client_id, payload, created_at, expires_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (customer_id, id) do update set payload = excluded.payload, expires_at = excluded.expires_at`,
    [
      grant.customerId,
      grant.id,
      grant.clientId,
      JSON.stringify(grant.payload),
      grant.createdAt,
      grant.expiresAt,
    ],
  );
}

export async function findGrant(db: Queryable, id: string, now: Date): Promise<Payload | undefined> {
  const key = grantKey(id);
  const owner = await atTokenOwner(db, key, 2);
  const { rows } = await db.query<{ payload: Payload; customer_id: string; expires_at: Date }>(
    `select payload, customer_id, expires_at from oauth_grants where id = $1${owner.text}`,
    [id, ...owner.values],
  );
  const [row] = rows;
  if (row !== undefined && owner.text === '')
    await noteTokenOwner(db, { key, customerId: row.customer_id, expiresAt: row.expires_at, now });
  return row?.payload;
}
