import type { Queryable } from '@libs/db';

/** What a link in a mail is good for. */
export type MailTokenKind = 'verify' | 'reset';

export interface MailToken {
  customerId: string;
  id: string;
  kind: MailTokenKind;
  tokenHash: Buffer;
  createdAt: Date;
  expiresAt: Date;
}

/** False when the customer was sent the most of this kind that the time since allows. */
export async function insertMailToken(
  tx: Queryable,
  token: MailToken,
  limit: { since: Date; tokensMax: number },
): Promise<boolean> {
  // The customer's row is the lock under which two parallel mails count one after the other.
  await tx.query('select id from customers where id = $1 for no key update', [token.customerId]);
  const { rowCount } = await tx.query(
    `insert into mail_tokens (customer_id, id, kind, token_hash, created_at, expires_at)
     select $1, $2, $3, $4, $5, $6
     where (select count(*) from mail_tokens where customer_id = $1 and kind = $3 and created_at > $7) < $8`,
    [
      token.customerId,
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
}

/** Whose token it is, if it still works; from here on it does not. */
export async function spendMailToken(
  tx: Queryable,
  token: { kind: MailTokenKind; tokenHash: Buffer; now: Date },
): Promise<{ customerId: string } | undefined> {
  const { rows } = await tx.query<{ customer_id: string }>(
    `update mail_tokens set expires_at = created_at
     where token_hash = $1 and kind = $2 and expires_at > $3 and expires_at > created_at
     returning customer_id`,
    [token.tokenHash, token.kind, token.now],
  );
  return rows[0] && { customerId: rows[0].customer_id };
}

/** Ends all links of this kind; they stay for the count of what was mailed. */
export async function voidMailTokens(
  tx: Queryable,
  tokens: { customerId: string; kind: MailTokenKind },
): Promise<void> {
  await tx.query('update mail_tokens set expires_at = created_at where customer_id = $1 and kind = $2', [
    tokens.customerId,
    tokens.kind,
  ]);
}

export async function deleteMailTokensBefore(db: Queryable, at: Date): Promise<void> {
  await db.query('delete from mail_tokens where created_at < $1', [at]);
}
