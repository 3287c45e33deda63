import type { Queryable } from '@libs/db';

/** Tries of one account are decided one after the other, in whichever process they arrive. */
export async function lockAccount(tx: Queryable, accountKey: Buffer): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [accountKey.readBigInt64BE(0)]);
}

export interface AttemptCounts {
  failed: number;
  /** Being checked right now, here or in another process. */
  pending: number;
  /** The failure whose end of window makes room for a next try. */
  oldestCounted: Date | null;
}

export async function countAttempts(
  tx: Queryable,
  accountKey: Buffer,
  since: { failed: Date; pending: Date; failedMax: number },
): Promise<AttemptCounts> {
  const { rows } = await tx.query<{ failed: number; pending: number; oldest: Date | null }>(
    `select count(*) filter (where failed and at > $2)::int as failed,
       count(*) filter (where failed is null and at > $3)::int as pending,
       (array_agg(at order by at desc) filter (where failed and at > $2))[$4] as oldest
     from login_attempts where account_key = $1`,
    [accountKey, since.failed, since.pending, since.failedMax],
  );
  const [row] = rows;
  return { failed: row?.failed ?? 0, pending: row?.pending ?? 0, oldestCounted: row?.oldest ?? null };
}

export async function insertAttempt(
  tx: Queryable,
  attempt: { accountKey: Buffer; id: string; at: Date },
): Promise<void> {
  await tx.query('insert into login_attempts (account_key, id, at) values ($1, $2, $3)', [
    attempt.accountKey,
    attempt.id,
    attempt.at,
  ]);
}

export async function markFailed(db: Queryable, accountKey: Buffer, id: string): Promise<void> {
  await db.query('update login_attempts set failed = true where account_key = $1 and id = $2', [
    accountKey,
    id,
  ]);
}

export async function deleteAttempt(db: Queryable, accountKey: Buffer, id: string): Promise<void> {
  await db.query('delete from login_attempts where account_key = $1 and id = $2', [accountKey, id]);
}

export async function deleteAttemptsBefore(db: Queryable, at: Date): Promise<void> {
  await db.query('delete from login_attempts where at < $1', [at]);
}
