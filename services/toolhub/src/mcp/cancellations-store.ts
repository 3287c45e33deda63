import type { Queryable } from '@libs/db';

export const CANCELED_CHANNEL = 'toolhub_canceled';

/** Tells all processes that the call of this key is not wanted any more. */
export async function announceCancellation(db: Queryable, key: string): Promise<void> {
  await db.query('select pg_notify($1, $2)', [CANCELED_CHANNEL, key]);
}
