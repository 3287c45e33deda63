import { groupByTenant, type Queryable, textArray } from '@libs/db';
import type { ChangedPayment } from './changed-payment.ts';

/** What changed in payments themselves, for tables that are spread over servers. */
export async function updatePaymentsApart(tx: Queryable, changed: readonly ChangedPayment[]): Promise<void> {
  const payments = changed.map(({ payment, document }) => ({ ...payment, document }));
  for (const [tenantId, ofTenant] of groupByTenant(payments))
    await tx.query({ name: 'payments.change.apart', text: CHANGE }, [
      tenantId,
      textArray(ofTenant.map(({ id }) => id)),
      textArray(ofTenant.map(({ status }) => status)),
      textArray(ofTenant.map(({ railSelected }) => railSelected)),
      textArray(ofTenant.map(({ document }) => document)),
    ]);
}

const CHANGE = `
update payments p set status = c.status, rail_selected = c.rail_selected, document = c.document
from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as c (id, status, rail_selected, document)
where p.tenant_id = $1 and p.id = c.id`;
