import type { Queryable } from '@libs/db';

/** One journey to a vendor. */
export interface Journey {
  platform: string;
  provider: string;
  /** The server that the customer named, for a vendor of many. */
  server: string | null;
  sessionHash: Buffer | null;
  sealedVerifier: Buffer;
}

export interface NewJourney extends Journey {
  customerId: string;
  stateHash: Buffer;
  createdAt: Date;
  expiresAt: Date;
}

/** Journeys beyond the newest `keep` are given up, so that nobody fills the table by starting over and over. */
export async function insertJourney(db: Queryable, journey: NewJourney, keep: number): Promise<void> {
  const { customerId, stateHash, platform, provider, server, sessionHash, sealedVerifier } = journey;
  await db.query(
    {
      name: 'connect.insert',
      text: `with surplus as (
          select state_hash from connect_states where customer_id = $1 order by created_at desc offset $9
        ), given_up as (
          delete from connect_states where customer_id = $1 and state_hash in (select state_hash from surplus)
        )
        insert into connect_states (customer_id, state_hash, platform, provider, session_hash, sealed_verifier,
          created_at, expires_at, server)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $10)`,
    },
    [
      ...[customerId, stateHash, platform, provider, sessionHash, sealedVerifier],
      ...[journey.createdAt, journey.expiresAt, keep - 1, server],
    ],
  );
}

/** A state works once, whatever comes of it. */
export async function takeJourney(
  db: Queryable,
  { customerId, stateHash, now }: { customerId: string; stateHash: Buffer; now: Date },
): Promise<Journey | undefined> {
  const { rows } = await db.query<{
    platform: string;
    provider: string;
    server: string | null;
    session_hash: Buffer | null;
    sealed_verifier: Buffer;
    live: boolean;
  }>(
    {
      name: 'connect.take',
      text: `delete from connect_states where customer_id = $1 and state_hash = $2
        returning platform, provider, server, session_hash, sealed_verifier, expires_at > $3 as live`,
    },
    [customerId, stateHash, now],
  );
  const [row] = rows;
  if (row?.live !== true) return undefined;
  return {
    platform: row.platform,
    provider: row.provider,
    server: row.server,
    sessionHash: row.session_hash,
    sealedVerifier: row.sealed_verifier,
  };
}

export async function deleteExpiredJourneys(db: Queryable, now: Date): Promise<void> {
  await db.query('delete from connect_states where expires_at < $1', [now]);
}
