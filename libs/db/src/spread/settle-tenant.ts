import type pg from 'pg';
import { CommitsUnsettled } from './settle.ts';

/*
 * The same as `settleBy` for the server of one tenant, so that nobody waits for another one: what that server has promised to keep and
 * the first one has committed is waited for, and finished where a crash has cut it off.
 */

const WAIT_MS = 10;
const TURNS_MAX = 90;

type Asked = Pick<pg.Pool, 'query'>;

interface SpreadTable {
  readonly name: string;
  readonly tenantColumn: string;
}

export interface TenantServer {
  readonly tenantId: string;
  /** As Citus numbers them. */
  readonly server: string;
  /** Any whose rows lie with their tenant. */
  readonly table: SpreadTable;
}

/** Any table that is spread, but for those that are divided: a look at them is one at each of their parts. */
export async function findSpreadTable(pool: Asked, schema: string): Promise<SpreadTable> {
  const { rows } = await pool.query<SpreadTable>(
    `select t.logicalrelid::text as name, pg_catalog.column_to_column_name(t.logicalrelid, t.partkey) as "tenantColumn"
     from pg_catalog.pg_dist_partition t join pg_catalog.pg_class c on c.oid = t.logicalrelid
     where c.relnamespace = to_regnamespace($1) and t.partmethod = 'h' and c.relkind = 'r' and not c.relispartition
     order by c.relname limit 1`,
    [schema],
  );
  if (rows[0] === undefined) throw new Error(`no table of ${schema} is spread by tenant`);
  return rows[0];
}

export async function settleTenant(pool: Asked, of: TenantServer): Promise<void> {
  let refusal: string | undefined;
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    const open = await readOpen(pool, of);
    if (open.length === 0) return;
    // Nobody holds the number any more of what was cut off.
    for (const { gid, isHeld } of open) if (!isHeld) refusal = (await finish(pool, of, gid)) ?? refusal;
    await new Promise((done) => setTimeout(done, WAIT_MS));
  }
  const why = refusal === undefined ? '' : `: ${refusal}`;
  throw new CommitsUnsettled(`what is committed here is not yet on the server of ${of.tenantId}${why}`);
}

interface OpenCommit {
  gid: string;
  isHeld: boolean;
}

/** What is promised there is read first: what was committed before that, and is not there any more, is seen there. */
async function readOpen(pool: Asked, { tenantId, server, table }: TenantServer): Promise<OpenCommit[]> {
  const { rows: there } = await pool.query<{ gids: string[] }>(
    `select (select coalesce(json_agg(gid), '[]') from pg_catalog.pg_prepared_xact()) as gids
     from (select count(*) from (select 1 from ${table.name} where ${table.tenantColumn} = $1 limit 1) as any_row) as once`,
    [tenantId],
  );
  const gids = there[0]?.gids ?? [];
  if (gids.length === 0) return [];
  const { rows } = await pool.query<OpenCommit>(
    `select gid, exists (
       select from pg_catalog.pg_locks held
       where held.locktype = 'transactionid' and held.granted and held.transactionid = kept.xmin
     ) as "isHeld"
     from pg_catalog.pg_dist_transaction kept where groupid = $1 and gid = any($2)`,
    [server, gids],
  );
  return rows;
}

/** By the first server, since we need not reach the others. Answers why it was refused, as it is where somebody was quicker. */
async function finish(pool: Asked, { server }: TenantServer, gid: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ success: boolean; result: string }>(
    `select run.success, run.result from pg_catalog.pg_dist_node n, pg_catalog.master_run_on_worker(
       array[n.nodename], array[n.nodeport], array[format('commit prepared %L', $2::text)], false) run
     where n.groupid = $1 and n.noderole = 'primary'`,
    [server, gid],
  );
  return rows.find(({ success }) => !success)?.result;
}
