import { type Queryable, queryByTenant, tenantStatement } from '@libs/db';
import type { MethodKey } from './method.ts';

export interface LookedAt extends MethodKey {
  /** Whether it holds money or owes. */
  hasMoney: boolean;
}

interface KeyRow {
  tenant_id: string;
  id: string;
}

/**
 * The next balances in the order of their keys, whatever they hold: so no page reads more than its number of rows. Rejected: to
 * join their methods here, which the planner did for all of them at each page.
 */
export async function readBalances(
  db: Queryable,
  { after, limit }: { after: MethodKey | null; limit: number },
): Promise<LookedAt[]> {
  const { rows } = await db.query<KeyRow & { has_money: boolean }>(
    `select tenant_id, payment_method_id as id, posted <> 0 or owed <> 0 as has_money from ledger_balances
     where (tenant_id, payment_method_id) > ($1::text, $2::text)
     order by tenant_id, payment_method_id limit $3`,
    [after?.tenantId ?? '', after?.id ?? '', limit],
  );
  return rows.map((row) => ({ ...keyFrom(row), hasMoney: row.has_money }));
}

/** Those of the methods that are deleted. */
export async function findDeleted(db: Queryable, keys: readonly MethodKey[]): Promise<MethodKey[]> {
  if (keys.length === 0) return [];
  const rows = await queryByTenant<KeyRow, MethodKey>(db, DELETED, keys, (some) => [
    some.map((key) => key.tenantId),
    some.map((key) => key.id),
  ]);
  return rows.map(keyFrom);
}

const DELETED = tenantStatement(
  'methods.deleted',
  (tenant) => `select m.tenant_id, m.id from unnest($1::text[], $2::text[]) as wanted (tenant_id, id)
    join payment_methods m on m.tenant_id = ${tenant} and m.id = wanted.id where m.deleted_at is not null`,
);

function keyFrom({ tenant_id: tenantId, id }: KeyRow): MethodKey {
  return { tenantId, id };
}
