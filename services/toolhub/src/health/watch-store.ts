import type { Queryable } from '@libs/db';

// Reads across customers, for the checks that nobody asked for.

/** Customers with a connected account, in the order of their ids. */
export async function listConnectedCustomers(
  db: Queryable,
  page: { after: string; limit: number },
): Promise<string[]> {
  const { rows } = await db.query<{ customer_id: string }>(
    `select distinct customer_id from credentials
     where customer_id > $1 and slot = '' and status = 'connected' order by customer_id limit $2`,
    [page.after, page.limit],
  );
  return rows.map((row) => row.customer_id);
}

export interface RunOut {
  customerId: string;
  platform: string;
  expiresAt: Date;
}

/**
 * Tokens that have run out, still count as connected, and can only be replaced by their customers: those that nobody renews, or
 * those of platforms that renew ahead alone. Each has an index; asked for together, none would serve.
 */
export async function listRunOut(
  db: Queryable,
  page: { before: Date; renewedAhead: readonly string[] | null; after: RunOut | undefined; limit: number },
): Promise<RunOut[]> {
  const { renewedAhead } = page;
  const { rows } = await db.query<{ customer_id: string; platform: string; expires_at: Date }>(
    `select customer_id, platform, expires_at from credentials
     where status = 'connected' and ${renewedAhead === null ? 'not refreshable' : 'refreshable and platform = any($6)'} and slot = '' and expires_at <= $1
       and (expires_at, customer_id, platform) > ($2::timestamptz, $3, $4)
     order by expires_at, customer_id, platform limit $5`,
    [
      page.before,
      page.after?.expiresAt ?? '-infinity',
      page.after?.customerId ?? '',
      page.after?.platform ?? '',
      page.limit,
      ...(renewedAhead === null ? [] : [renewedAhead]),
    ],
  );
  return rows.map((row) => ({
    customerId: row.customer_id,
    platform: row.platform,
    expiresAt: row.expires_at,
  }));
}
