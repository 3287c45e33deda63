import type { Queryable } from '@libs/db';

export interface KeyPlace {
  readonly tenantId: string;
  readonly path: string;
  readonly key: string;
}

export interface KeyedResponse {
  fingerprint: Buffer;
  status: number;
  responseSealed: Buffer;
}

/** Held until the transaction ends: of several processes with the same key, one works and the others wait. */
export async function lockPlace(tx: Queryable, place: KeyPlace): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 2))', [
    JSON.stringify([place.tenantId, place.path, place.key]),
  ]);
}

export async function findResponse(db: Queryable, place: KeyPlace): Promise<KeyedResponse | undefined> {
  const { rows } = await db.query<KeyedResponse>(
    `select fingerprint, status, response_sealed as "responseSealed" from idempotency_keys
     where tenant_id = $1 and path = $2 and key = $3`,
    [place.tenantId, place.path, place.key],
  );
  return rows[0];
}

export async function insertResponse(
  tx: Queryable,
  place: KeyPlace,
  answer: KeyedResponse & { createdAt: Date },
): Promise<void> {
  await tx.query(
    `insert into idempotency_keys (tenant_id, path, key, fingerprint, status, response_sealed, created_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      place.tenantId,
      place.path,
      place.key,
      answer.fingerprint,
      answer.status,
      answer.responseSealed,
      answer.createdAt,
    ],
  );
}

/** Removes a bounded number of keys that are past their time, oldest first. */
export async function deleteKeysBefore(db: Queryable, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from idempotency_keys where (tenant_id, path, key) in (
       select tenant_id, path, key from idempotency_keys where created_at < $1
       order by created_at limit $2)`,
    [before, limit],
  );
  return rowCount;
}
