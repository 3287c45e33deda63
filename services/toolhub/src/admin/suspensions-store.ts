import type { Queryable } from '@libs/db';

export async function listSuspended(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ customer_id: string }>('select customer_id from suspended_customers');
  return rows.map((row) => row.customer_id);
}

/** A repeat keeps the first moment and takes the new reason. */
export async function insertSuspension(
  tx: Queryable,
  suspension: { customerId: string; reason: string | null; at: Date },
): Promise<void> {
  await tx.query(
    `insert into suspended_customers (customer_id, reason, suspended_at) values ($1, $2, $3)
     on conflict (customer_id) do update set reason = excluded.reason`,
    [suspension.customerId, suspension.reason, suspension.at],
  );
}

export async function deleteSuspension(tx: Queryable, customerId: string): Promise<void> {
  await tx.query('delete from suspended_customers where customer_id = $1', [customerId]);
}
