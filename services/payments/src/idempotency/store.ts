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

export interface PlainAnswer extends KeyPlace, Pick<KeyedResponse, 'fingerprint' | 'responseSealed'> {}

/** Of the next keys of one path those whose fingerprints lie in the clear; `lastKey` is null where no more keys follow. */
export async function readPlainAnswers(
  db: Queryable,
  { tenantId, path, afterKey, limit }: Omit<KeyPlace, 'key'> & { afterKey: string; limit: number },
): Promise<{ plain: PlainAnswer[]; lastKey: string | null }> {
  const { rows } = await db.query<{ key: string; fingerprint: Buffer; responseSealed: Buffer | null }>(
    `select key, fingerprint, case when octet_length(fingerprint) > 0 then response_sealed end as "responseSealed"
     from idempotency_keys where tenant_id = $1 and path = $2 and key > $3 order by key limit $4`,
    [tenantId, path, afterKey, limit],
  );
  return {
    plain: rows.flatMap(({ key, fingerprint, responseSealed }) =>
      responseSealed === null ? [] : { tenantId, path, key, fingerprint, responseSealed },
    ),
    lastKey: rows.length < limit ? null : (rows.at(-1)?.key ?? null),
  };
}

export async function findTenantAfter(db: Queryable, tenantId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ tenantId: string }>(
    `select tenant_id as "tenantId" from idempotency_keys where tenant_id > $1 order by tenant_id limit 1`,
    [tenantId],
  );
  return rows[0]?.tenantId;
}

/** Where the row still holds what was read: whoever seals it with a newer key meanwhile wins. */
export async function replaceAnswer(
  db: Queryable,
  { tenantId, path, key, responseSealed: was }: PlainAnswer,
  { fingerprint, responseSealed }: Pick<KeyedResponse, 'fingerprint' | 'responseSealed'>,
): Promise<void> {
  await db.query(
    `update idempotency_keys set fingerprint = $5, response_sealed = $6
     where tenant_id = $1 and path = $2 and key = $3 and response_sealed = $4`,
    [tenantId, path, key, was, fingerprint, responseSealed],
  );
}
