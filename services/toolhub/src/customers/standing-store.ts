import type { Queryable } from '@libs/db';
import type { Session } from './identity.ts';
import { lockCustomer } from './store.ts';

/** Who takes an account back holds the customer's row, so that this comes before or after all of it. */
export async function isStillIn(
  tx: Queryable,
  { customerId, sessionId, tokenId }: Pick<Session, 'customerId' | 'sessionId' | 'tokenId'>,
): Promise<boolean> {
  await lockCustomer(tx, customerId);
  const { rowCount } = await tx.query(
    `select 1 from sessions where customer_id = $1 and id = $2
     union all select 1 from personal_tokens where customer_id = $1 and id = $3
     union all select 1 from oauth_tokens where customer_id = $1 and id = $3`,
    [customerId, sessionId ?? null, tokenId],
  );
  return rowCount > 0;
}
