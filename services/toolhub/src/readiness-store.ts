import type { Queryable } from '@libs/db';

/** Rejects while the database is away or its schema is not there. */
export async function checkReady(db: Queryable): Promise<void> {
  await db.query('select 1 from migrations limit 1');
}
