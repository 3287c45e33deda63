import type { Queryable } from '@libs/db';

export interface StoredClient {
  id: string;
  kind: 'own' | 'registered';
  /** RFC 7591 names, without the secret. */
  metadata: Record<string, unknown>;
  redirectUris: readonly string[];
  secretHash: Buffer | null;
}

export async function upsertClient(db: Queryable, client: StoredClient, at: Date): Promise<void> {
  await db.query(
    `insert into oauth_clients (id, kind, redirect_uris, metadata, secret_hash, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $6)
     on conflict (id) do update set kind = excluded.kind, redirect_uris = excluded.redirect_uris,
       metadata = excluded.metadata, secret_hash = excluded.secret_hash, updated_at = excluded.updated_at`,
    [client.id, client.kind, client.redirectUris, JSON.stringify(client.metadata), client.secretHash, at],
  );
}

export async function findClient(
  db: Queryable,
  id: string,
): Promise<{ metadata: Record<string, unknown>; secretHash: Buffer | null } | undefined> {
  const { rows } = await db.query<{ metadata: Record<string, unknown>; secret_hash: Buffer | null }>(
    'select metadata, secret_hash from oauth_clients where id = $1',
    [id],
  );
  return rows[0] && { metadata: rows[0].metadata, secretHash: rows[0].secret_hash };
}

export async function findClientName(db: Queryable, id: string): Promise<string | null> {
  const { rows } = await db.query<{ name: string | null }>(
    `select metadata ->> 'client_name' as name from oauth_clients where id = $1`,
    [id],
  );
  return rows[0]?.name ?? null;
}
