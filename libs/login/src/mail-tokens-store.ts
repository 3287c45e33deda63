import type { Queryable } from '@libs/db';
import type { MailToken, MailTokenKind } from './mail-token.ts';
import type { PersonColumn } from './person.ts';

export interface MailTokensStore {
  /** With the person's row locked. False when the person was sent the most of this kind that the time since allows. */
  insert(tx: Queryable, token: MailToken, limit: { since: Date; tokensMax: number }): Promise<boolean>;
  /** Of a mail that did not leave. */
  remove(db: Queryable, token: { personId: string; id: string }): Promise<void>;
  /** Whose token it is, whether or not it still works. */
  ownerOf(
    db: Queryable,
    token: { kind: MailTokenKind; tokenHash: Buffer },
  ): Promise<{ personId: string } | undefined>;
  /** Whose token it is, if it still works; from here on it does not. */
  spend(
    tx: Queryable,
    token: { kind: MailTokenKind; tokenHash: Buffer; now: Date },
  ): Promise<{ personId: string } | undefined>;
  /** Ends all links of this kind; they stay for the count of what was mailed. */
  voidAll(tx: Queryable, tokens: { personId: string; kind: MailTokenKind }): Promise<void>;
  deleteBefore(db: Queryable, at: Date): Promise<void>;
}

export function createMailTokensStore(person: PersonColumn): MailTokensStore {
  return {
    async insert(tx, token, limit) {
      const { rowCount } = await tx.query(
        `insert into mail_tokens (${person}, id, kind, token_hash, created_at, expires_at)
         select $1, $2, $3, $4, $5, $6
         where (select count(*) from mail_tokens where ${person} = $1 and kind = $3 and created_at > $7) < $8`,
        [
          token.personId,
          token.id,
          token.kind,
          token.tokenHash,
          token.createdAt,
          token.expiresAt,
          limit.since,
          limit.tokensMax,
        ],
      );
      return rowCount === 1;
    },

    async remove(db, { personId, id }) {
      await db.query(`delete from mail_tokens where ${person} = $1 and id = $2`, [personId, id]);
    },

    async ownerOf(db, { kind, tokenHash }) {
      const { rows } = await db.query<{ person_id: string }>(
        `select ${person} as person_id from mail_tokens where token_hash = $1 and kind = $2`,
        [tokenHash, kind],
      );
      return rows[0] && { personId: rows[0].person_id };
    },

    async spend(tx, token) {
      const { rows } = await tx.query<{ person_id: string }>(
        `update mail_tokens set expires_at = created_at
         where token_hash = $1 and kind = $2 and expires_at > $3 and expires_at > created_at
         returning ${person} as person_id`,
        [token.tokenHash, token.kind, token.now],
      );
      return rows[0] && { personId: rows[0].person_id };
    },

    async voidAll(tx, { personId, kind }) {
      await tx.query(`update mail_tokens set expires_at = created_at where ${person} = $1 and kind = $2`, [
        personId,
        kind,
      ]);
    },

    async deleteBefore(db, at) {
      await db.query('delete from mail_tokens where created_at < $1', [at]);
    },
  };
}
