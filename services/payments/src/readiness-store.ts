import type { Database } from '@libs/db';

/** Rejects while the database does not answer. */
export async function checkDatabase(database: Database): Promise<void> {
  await database.query('select 1');
}
