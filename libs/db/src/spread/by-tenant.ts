import type { Database, PreparedStatement, Queryable } from '../database.ts';

/*
 * Statements over rows of many tenants. One server takes all of them at once. Where the tables are spread, servers refuse
 * most of what such a statement is made of (locks, look-ups by a lateral part, changes with a join), and take the same
 * statement as soon as it is for one tenant: so there it runs tenant by tenant.
 */

export interface TenantStatement {
  readonly together: PreparedStatement;
  readonly apart: PreparedStatement;
}

/**
 * A statement in both forms. Its first parameter is the tenants of the rows; `tenant` is what the tenant's column of each
 * table is compared with: that of the row that is wanted, or the one tenant that all rows have.
 */
export function tenantStatement(
  name: string,
  text: (tenant: string) => string,
  wanted = 'wanted.tenant_id',
): TenantStatement {
  return {
    together: { name, text: text(wanted) },
    apart: { name: `${name}.apart`, text: text('($1::text[])[1]') },
  };
}

/** Tenants come in one order, whoever asks, so that two transactions never wait for each other. */
export async function queryByTenant<Row extends object, Item extends { readonly tenantId: string }>(
  db: Queryable,
  statement: TenantStatement,
  items: readonly Item[],
  values: (items: readonly Item[]) => readonly unknown[],
): Promise<Row[]> {
  if (!db.isSpread) return (await db.query<Row>(statement.together, values(items))).rows;
  const rows: Row[] = [];
  for (const [, ofTenant] of groupByTenant(items))
    rows.push(...(await db.query<Row>(statement.apart, values(ofTenant))).rows);
  return rows;
}

export function groupByTenant<Item extends { readonly tenantId: string }>(
  items: readonly Item[],
): [string, Item[]][] {
  return [...Map.groupBy(items, (item) => item.tenantId)].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** One transaction for several statements: the caller's, or one of its own. */
export function withinTransaction<T>(db: Queryable, work: (tx: Queryable) => Promise<T>): Promise<T> {
  return 'transaction' in db ? (db as Database).transaction(work) : work(db);
}
