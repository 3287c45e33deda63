import type { Queryable } from '@libs/db';

/** Sent when the caller's transaction commits, and never when it does not. */
export async function notify(tx: Queryable, channel: string, message: string): Promise<void> {
  await tx.query({ name: 'invalidation.notify', text: 'select pg_notify($1, $2)' }, [channel, message]);
}
