import type { Queryable } from '@libs/db';
import type { MethodKey } from './method.ts';

export interface LookedAt extends MethodKey {
  /** Deleted, though it holds money or owes. */
  isStranded: boolean;
}

/** The next balances in the order of their keys, whatever they hold: so no page reads more than its number of rows. */
export async function readBalances(
  db: Queryable,
  { after, limit }: { after: MethodKey | null; limit: number },
): Promise<LookedAt[]> {
  const { rows } = await db.query<{ tenant_id: string; id: string; is_stranded: boolean }>(
    `select b.tenant_id, b.payment_method_id as id,
       m.deleted_at is not null and (b.posted <> 0 or b.owed <> 0) as is_stranded
     from ledger_balances b join payment_methods m on m.tenant_id = b.tenant_id and m.id = b.payment_method_id
     where (b.tenant_id, b.payment_method_id) > ($1::text, $2::text)
     order by b.tenant_id, b.payment_method_id limit $3`,
    [after?.tenantId ?? '', after?.id ?? '', limit],
  );
  return rows.map((row) => ({ tenantId: row.tenant_id, id: row.id, isStranded: row.is_stranded }));
}
