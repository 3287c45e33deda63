import type { Queryable } from '@libs/db';
import type { Payload } from './store.ts';

export async function upsertInteraction(
  db: Queryable,
  interaction: { idHash: Buffer; payload: Payload; expiresAt: Date },
): Promise<void> {
  await db.query(
    `insert into oauth_interactions (id_hash, payload, expires_at) values ($1, $2, $3)
     on conflict (id_hash) do update set payload = excluded.payload, expires_at = excluded.expires_at`,
    [interaction.idHash, JSON.stringify(interaction.payload), interaction.expiresAt],
  );
}

export async function findInteraction(db: Queryable, idHash: Buffer): Promise<Payload | undefined> {
  const { rows } = await db.query<{ payload: Payload }>(
    'select payload from oauth_interactions where id_hash = $1',
    [idHash],
  );
  return rows[0]?.payload;
}

export async function deleteInteraction(db: Queryable, idHash: Buffer): Promise<void> {
  await db.query('delete from oauth_interactions where id_hash = $1', [idHash]);
}

export async function insertConnect(
  db: Queryable,
  connect: { stateHash: Buffer; sealedVerifier: Buffer; expiresAt: Date },
): Promise<void> {
  await db.query('insert into oauth_connects (state_hash, sealed_verifier, expires_at) values ($1, $2, $3)', [
    connect.stateHash,
    connect.sealedVerifier,
    connect.expiresAt,
  ]);
}

/** A state works once. */
export async function takeConnect(db: Queryable, stateHash: Buffer, now: Date): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ sealed_verifier: Buffer; live: boolean }>(
    'delete from oauth_connects where state_hash = $1 returning sealed_verifier, expires_at > $2 as live',
    [stateHash, now],
  );
  return rows[0]?.live === true ? rows[0].sealed_verifier : undefined;
}
