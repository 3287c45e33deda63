import type pg from 'pg';
import { findSpreadTable, settleTenant } from './settle-tenant.ts';

const KNOWN_MAX = 10_000;

export interface Servers {
  of(tenantId: string): Promise<string>;
  /** Afterwards the server of this tenant shows all that was committed before. */
  settle(tenantId: string): Promise<void>;
}

/**
 * Which server has the rows of a tenant: the tables that are spread by tenant lie together. The coordinator knows, and is asked once for
 * each tenant. Only who waits with whom hangs on the answer, so nothing is wrong where rows have moved since.
 */
export function createServers(pool: Pick<pg.Pool, 'query'>, schema: string): Servers {
  const known = new Map<string, Promise<string>>();

  async function find(tenantId: string): Promise<string> {
    const { rows } = await pool.query<{ server: string }>(FIND, [schema, tenantId]);
    return rows[0]?.server ?? '';
  }

  function of(tenantId: string): Promise<string> {
    const before = known.get(tenantId);
    if (before !== undefined) return before;
    if (known.size >= KNOWN_MAX) known.clear();
    const found = find(tenantId);
    known.set(tenantId, found);
    found.catch(() => known.delete(tenantId));
    return found;
  }

  let table: ReturnType<typeof findSpreadTable> | undefined;
  function anyTable(): ReturnType<typeof findSpreadTable> {
    table ??= findSpreadTable(pool, schema);
    table.catch(() => {
      table = undefined;
    });
    return table;
  }

  return {
    of,
    async settle(tenantId) {
      await settleTenant(pool, { tenantId, server: await of(tenantId), table: await anyTable() });
    },
  };
}

const FIND = `
select p.groupid::text as server
from (
  select t.logicalrelid from pg_catalog.pg_dist_partition t join pg_catalog.pg_class c on c.oid = t.logicalrelid
  where c.relnamespace = to_regnamespace($1) and t.partmethod = 'h' limit 1
) as spread
join pg_catalog.pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column(spread.logicalrelid, $2::text)
limit 1`;
