import type { Queryable } from '@libs/db';
import type { Challenge, Passkey, StoredPasskey } from './passkey.ts';
import type { PersonColumn } from './person.ts';

interface PasskeyRow {
  person_id: string;
  id: string;
  credential_id: string;
  public_key: Buffer;
  counter: number;
  transports: string[];
  name: string;
  created_at: Date;
  last_used_at: Date | null;
}

function fromRow(row: PasskeyRow): StoredPasskey {
  return {
    personId: row.person_id,
    id: row.id,
    credentialId: row.credential_id,
    publicKey: new Uint8Array(row.public_key),
    counter: row.counter,
    transports: row.transports,
    name: row.name,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}

export interface PasskeysStore {
  insert(tx: Queryable, passkey: StoredPasskey): Promise<boolean>;
  list(db: Queryable, personId: string): Promise<StoredPasskey[]>;
  count(db: Queryable, personId: string): Promise<number>;
  /** With its row locked: a counter goes up once for each use. */
  lock(tx: Queryable, key: { personId: string; credentialId: string }): Promise<StoredPasskey | undefined>;
  markUsed(tx: Queryable, use: { personId: string; id: string; counter: number; at: Date }): Promise<void>;
  delete(db: Queryable, key: { personId: string; id: string }): Promise<boolean>;
  deleteAll(tx: Queryable, personId: string): Promise<void>;
  /** One for each browser: a newer one replaces it. */
  putChallenge(db: Queryable, challenge: Challenge & { browserHash: Buffer; expiresAt: Date }): Promise<void>;
  /** Gives it once. */
  takeChallenge(db: Queryable, browserHash: Buffer, now: Date): Promise<Challenge | undefined>;
  deleteSecondFactors(tx: Queryable, personId: string): Promise<void>;
  deleteExpiredChallenges(db: Queryable, now: Date): Promise<void>;
}

export function createPasskeysStore(person: PersonColumn): PasskeysStore {
  const columns = `${person} as person_id, id, credential_id, public_key, counter, transports, name, created_at,
    last_used_at`;
  return {
    async insert(tx, passkey) {
      const { rowCount } = await tx.query(
        `insert into passkeys (${person}, id, credential_id, public_key, counter, transports, name, created_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
        [
          passkey.personId,
          passkey.id,
          passkey.credentialId,
          Buffer.from(passkey.publicKey),
          passkey.counter,
          passkey.transports,
          passkey.name,
          passkey.createdAt,
        ],
      );
      return rowCount === 1;
    },

    async list(db, personId) {
      const { rows } = await db.query<PasskeyRow>(
        `select ${columns} from passkeys where ${person} = $1 order by id desc`,
        [personId],
      );
      return rows.map(fromRow);
    },

    async count(db, personId) {
      const { rows } = await db.query<{ count: number }>(
        `select count(*)::int as count from passkeys where ${person} = $1`,
        [personId],
      );
      return rows[0]?.count ?? 0;
    },

    async lock(tx, { personId, credentialId }) {
      const { rows } = await tx.query<PasskeyRow>(
        `select ${columns} from passkeys where ${person} = $1 and credential_id = $2 for update`,
        [personId, credentialId],
      );
      return rows[0] && fromRow(rows[0]);
    },

    async markUsed(tx, { personId, id, counter, at }) {
      await tx.query(`update passkeys set counter = $3, last_used_at = $4 where ${person} = $1 and id = $2`, [
        personId,
        id,
        counter,
        at,
      ]);
    },

    async delete(db, { personId, id }) {
      const { rowCount } = await db.query(`delete from passkeys where ${person} = $1 and id = $2`, [
        personId,
        id,
      ]);
      return rowCount === 1;
    },

    async deleteAll(tx, personId) {
      await tx.query(`delete from passkeys where ${person} = $1`, [personId]);
    },

    async putChallenge(db, { browserHash, kind, personId, challenge, passwordProof, expiresAt }) {
      await db.query(
        `insert into passkey_challenges (browser_hash, kind, ${person}, challenge, expires_at, password_proof)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (browser_hash) do update set kind = excluded.kind, ${person} = excluded.${person},
           challenge = excluded.challenge, expires_at = excluded.expires_at,
           password_proof = excluded.password_proof`,
        [browserHash, kind, personId, challenge, expiresAt, passwordProof],
      );
    },

    async takeChallenge(db, browserHash, now) {
      const { rows } = await db.query<{
        kind: Challenge['kind'];
        person_id: string | null;
        challenge: string;
        password_proof: Buffer | null;
        expires_at: Date;
      }>(
        `delete from passkey_challenges where browser_hash = $1
         returning kind, ${person} as person_id, challenge, password_proof, expires_at`,
        [browserHash],
      );
      const [row] = rows;
      if (row === undefined || row.expires_at <= now) return undefined;
      const { kind, person_id: personId, challenge, password_proof: passwordProof } = row;
      return { kind, personId, challenge, passwordProof };
    },

    async deleteSecondFactors(tx, personId) {
      await tx.query(`delete from passkey_challenges where ${person} = $1 and kind = 'second_factor'`, [
        personId,
      ]);
    },

    async deleteExpiredChallenges(db, now) {
      await db.query('delete from passkey_challenges where expires_at < $1', [now]);
    },
  };
}

/** What the person may see of it. */
export function shownOf({ id, name, createdAt, lastUsedAt }: StoredPasskey): Passkey {
  return { id, name, createdAt, lastUsedAt };
}
