import type { Queryable } from '@libs/db';
import type { BillingDetails } from './parties.ts';

export async function findDetails(db: Queryable, customerId: string): Promise<BillingDetails | undefined> {
  const { rows } = await db.query<{ company: string | null; address: string | null; tax_id: string | null }>(
    'select company, address, tax_id from billing_details where customer_id = $1',
    [customerId],
  );
  const [row] = rows;
  return row && { company: row.company, address: row.address, taxId: row.tax_id };
}

export async function deleteDetails(tx: Queryable, customerId: string): Promise<void> {
  await tx.query('delete from billing_details where customer_id = $1', [customerId]);
}

export async function writeDetails(
  db: Queryable,
  details: BillingDetails & { customerId: string; at: Date },
): Promise<void> {
  await db.query(
    `insert into billing_details (customer_id, company, address, tax_id, updated_at) values ($1, $2, $3, $4, $5)
     on conflict (customer_id) do update set company = excluded.company, address = excluded.address,
       tax_id = excluded.tax_id, updated_at = excluded.updated_at`,
    [details.customerId, details.company, details.address, details.taxId, details.at],
  );
}
