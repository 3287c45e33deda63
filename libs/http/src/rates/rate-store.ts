import { fileURLToPath } from 'node:url';
import type { RateDelta, RateStore } from './rate-limit.ts';

export type RateQuery = (text: string, values: unknown[]) => Promise<{ rows: Record<string, unknown>[] }>;

const ALIVE_SECONDS = 5;

/** Two small tables, in the service's own schema; a series of migrations as `libs/db` takes them. */
export const rateLimitMigrations = {
  name: 'rate_limits',
  folder: fileURLToPath(new URL('../../migrations', import.meta.url)),
};

/** The shared buckets in Postgres; time is the database's, so that clocks of machines do not matter. */
export function postgresRateStore(options: { query: RateQuery; schema: string }): RateStore {
  const { query, schema } = options;
  const syncSql = syncStatement(schema);
  const tidySql = tidyStatement(schema);
  return {
    async sync(processId, deltas) {
      const { rows } = await query(syncSql, [processId, ...columns(deltas)]);
      const levels = new Map<string, number>();
      let processes = 1;
      for (const { key, tokens } of rows) {
        if (key === null) processes = Number(tokens);
        else levels.set(String(key), Number(tokens));
      }
      return { levels, processes };
    },
    async tidy() {
      await query(tidySql, []);
    },
  };
}

function columns(deltas: readonly RateDelta[]): unknown[][] {
  // Always in the same order, so that two processes that report the same keys cannot lock each other out.
  const sorted = deltas.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  return [
    sorted.map((delta) => delta.key),
    sorted.map((delta) => delta.used),
    sorted.map((delta) => delta.ratePerSecond),
    sorted.map((delta) => delta.burst),
  ];
}

/** The bucket is refilled for the time since its last change, capped at the burst, then charged; debt is bounded. */
function syncStatement(schema: string): string {
  const { buckets, processes } = tables(schema);
  return `with seen as (
  insert into ${processes} (id, seen_at) values ($1, clock_timestamp())
  on conflict (id) do update set seen_at = excluded.seen_at
), charged as (
  insert into ${buckets} as bucket (key, tokens, rate, burst, updated_at)
  select delta.key, delta.burst - delta.used, delta.rate, delta.burst, clock_timestamp()
  from unnest($2::text[], $3::float8[], $4::float8[], $5::float8[]) as delta (key, used, rate, burst)
  on conflict (key) do update set
    tokens = greatest(
      -excluded.burst,
      least(
        excluded.burst,
        bucket.tokens + excluded.rate * greatest(0, extract(epoch from excluded.updated_at - bucket.updated_at)::float8)
      ) - (excluded.burst - excluded.tokens)
    ),
    rate = excluded.rate,
    burst = excluded.burst,
    updated_at = greatest(bucket.updated_at, excluded.updated_at)
  returning key, tokens
)
select null as key, (
  select count(*) + 1 from ${processes}
  where id <> $1 and seen_at > clock_timestamp() - interval '${ALIVE_SECONDS} seconds'
)::float8 as tokens
union all select key, tokens from charged`;
}

function tidyStatement(schema: string): string {
  const { buckets, processes } = tables(schema);
  return `with gone as (
  delete from ${processes} where seen_at < clock_timestamp() - interval '1 hour'
)
delete from ${buckets} where updated_at < clock_timestamp() - make_interval(secs => 60 + 2 * burst / rate)`;
}

function tables(schema: string): { buckets: string; processes: string } {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) throw new TypeError(`"${schema}" is not a plain schema name`);
  return { buckets: `${schema}.rate_limit_buckets`, processes: `${schema}.rate_limit_processes` };
}
