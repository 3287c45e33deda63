import type { Queryable } from '@libs/db';

/*
 * Where tables are spread, whose a token is says which server to ask for it: all of them would be one too many as soon as one is away. On
 * one server nothing is asked or written here. What is not known here is looked for everywhere, and known from then on.
 */

export interface TokenOwner {
  readonly key: Buffer;
  readonly customerId: string;
  /** Until when it is good; null for ever. */
  readonly expiresAt: Date | null;
  readonly now: Date;
}

/** The end of a condition, and its values. */
export interface OwnerCondition {
  readonly text: string;
  readonly values: readonly string[];
}

const EVERYWHERE: OwnerCondition = { text: '', values: [] };
/** Of one that never expires. What is used after that is found everywhere once, and known again. */
const KEPT_MS = 365 * 24 * 60 * 60_000;

/** Consents are looked up by their ids. */
export function grantKey(grantId: string): Buffer {
  return Buffer.from(grantId);
}

export async function noteTokenOwner(
  db: Queryable,
  { key, customerId, expiresAt, now }: TokenOwner,
): Promise<void> {
  if (!db.isSpread) return;
  await db.query(
    {
      name: 'token_owners.note',
      text: 'insert into token_owners (key, customer_id, kept_until) values ($1, $2, $3) on conflict do nothing',
    },
    [key, customerId, expiresAt ?? new Date(now.getTime() + KEPT_MS)],
  );
}

/** Asks its owner's server alone, where it is known; the value takes this place among those of the statement. */
export async function atTokenOwner(db: Queryable, key: Buffer, place: number): Promise<OwnerCondition> {
  if (!db.isSpread) return EVERYWHERE;
  const { rows } = await db.query<{ customer_id: string }>(
    { name: 'token_owners.find', text: 'select customer_id from token_owners where key = $1' },
    [key],
  );
  const [owner] = rows;
  return owner === undefined
    ? EVERYWHERE
    : { text: ` and customer_id = $${place}`, values: [owner.customer_id] };
}

export async function deleteTokenOwnersBefore(db: Queryable, at: Date): Promise<void> {
  await db.query('delete from token_owners where kept_until < $1', [at]);
}
