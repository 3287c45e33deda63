import type { Queryable } from '@libs/db';

/** What every process has to forget: one token, or all tokens that came from one consent. */
export type Revocation = { tokenId: string } | { family: string };

export const REVOCATION_CHANNEL = 'toolhub_revocations';

/** Sent with the commit of the change: whoever hears it finds the token gone. */
export async function announceRevocation(tx: Queryable, revocation: Revocation): Promise<void> {
  await tx.query({ name: 'revocations.announce', text: 'select pg_notify($1, $2)' }, [
    REVOCATION_CHANNEL,
    JSON.stringify(revocation),
  ]);
}
