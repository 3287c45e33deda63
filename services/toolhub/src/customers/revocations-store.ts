import type { Queryable } from '@libs/db';
import type { Revocation } from './revocation.ts';

export const REVOCATION_CHANNEL = 'toolhub_revocations';

/** Sent with the commit of the change: whoever hears it finds the token gone. */
export async function announceRevocation(tx: Queryable, revocation: Revocation): Promise<void> {
  await tx.query({ name: 'revocations.announce', text: 'select pg_notify($1, $2)' }, [
    REVOCATION_CHANNEL,
    JSON.stringify(revocation),
  ]);
}
