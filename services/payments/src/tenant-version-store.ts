import type { Queryable } from '@libs/db';

/** Whoever remembers the tenant looks again before the next payment is accepted. */
export async function raiseVersion(tx: Queryable, tenantId: string): Promise<void> {
  await tx.query(
    `insert into tenant_versions as known (tenant_id, version) values ($1, 1)
     on conflict (tenant_id) do update set version = known.version + 1`,
    [tenantId],
  );
}
