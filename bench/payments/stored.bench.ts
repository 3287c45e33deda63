import { totalmem } from 'node:os';
import { type Database, openDatabase } from '@libs/db';
import { fillTimeouts, type RunningService, startDatabase, startService } from '../environment.ts';
import { sendLoad } from '../load.ts';
import { type Benchmark, median } from '../result.ts';
import { acceptLoad, apiOnly } from './accept-load.ts';

/** The bar is for twenty million; the short form keeps the whole run within its minutes. */
const STORED = Number(process.env.BENCH_STORED ?? 100_000);
const IS_LARGE = STORED > 1_000_000;
const ROUNDS = IS_LARGE ? 5 : 3;
const SECONDS = IS_LARGE ? 3 : 2;
const WARMUP_SECONDS = IS_LARGE ? 60 : 3;
/**
 * As our guide on running sizes a server. Keys are random: with less memory the index of twenty million does not fit, and
 * with less log between two checkpoints nearly every payment logs a whole page of it.
 */
const SERVER: Readonly<Record<string, string>> = IS_LARGE
  ? { shared_buffers: `${Math.floor(totalmem() / 1_024 ** 2 / 4)}MB`, max_wal_size: '16GB' }
  : {};
const FILLED_TABLES = ['payments', 'idempotency_keys', 'events', 'ledger_transfers'];

interface Installation {
  url: string;
  database: Database;
}

async function install(opened: AsyncDisposableStack): Promise<Installation> {
  const server = await startDatabase(SERVER);
  opened.defer(() => server.stop());
  await using first = await startPayments(server.url);
  // The tables are there now, and a payment says whose the past ones are to be.
  await sendLoad(acceptLoad(first.url, { seconds: 1, warmupSeconds: 0 }));
  const database = await openDatabase({ url: server.url, schema: 'payments', timeouts: fillTimeouts });
  opened.defer(() => database.close());
  return { url: server.url, database };
}

async function startPayments(databaseUrl: string): Promise<RunningService & AsyncDisposable> {
  const service = await startService('payments', { ...apiOnly, DATABASE_URL: databaseUrl });
  return { ...service, [Symbol.asyncDispose]: () => service.stop() };
}

async function acceptRate(service: RunningService, warmupSeconds: number): Promise<number> {
  const report = await sendLoad(acceptLoad(service.url, { seconds: SECONDS, warmupSeconds }));
  return report.perSecond;
}

/**
 * Completed payments of the past with all that belongs to them. Their documents are short: a document lies in the
 * table, to which accepting only appends, and it is the depth and size of the indexes that could slow it down. Keys are
 * random as clients make them, and the ids lie before those of today.
 */
function fillStatements(tenantId: string): string[] {
  const rows = `from generate_series(1, ${STORED}) as i`;
  const number = `lpad(i::text, 26, '0')`;
  const document = `'{"id":"pay_' || ${number} || '","object":"payment","status":"completed"}'`;
  return [
    `insert into payments (tenant_id, id, status, amount, source_id, destination_id, debit_account, credit_account,
       rail_selected, fallback, metadata, created_at, document)
     select '${tenantId}', 'pay_' || ${number}, 'completed', 2500, 'pm_' || i % 10000, 'pm_' || (i + 1) % 10000,
       'outside_sources', 'outside_destinations', 'rtp', true, '{}', now(), ${document} ${rows}`,
    `insert into idempotency_keys (tenant_id, path, key, fingerprint, event_id, status, created_at)
     select '${tenantId}', '/v1/payments', md5(i::text), '\\x${'ab'.repeat(32)}', 'evt_' || ${number}, 202, now() ${rows}`,
    `insert into events (tenant_id, id, type, subject_id, data, occurred_at, created_at)
     select '${tenantId}', 'evt_' || ${number}, 'payment.pending', 'pay_' || ${number}, ${document}, now(), now() ${rows}`,
    `insert into ledger_transfers (tenant_id, id, payment_id, kind, debit_account, credit_account, amount, created_at)
     select '${tenantId}', 'lt_' || ${number}, 'pay_' || ${number}, 'hold', 'outside_sources', 'outside_destinations',
       2500, now() ${rows}`,
  ];
}

/** Indexes are built after the rows: one by one they would take an hour for what is not measured here. */
async function fill(database: Database): Promise<void> {
  const { rows: tenants } = await database.query<{ id: string }>(
    'select tenant_id as id from payments limit 1',
  );
  const tenantId = tenants[0]?.id as string;
  const { rows: indexes } = await database.query<{ drop: string; create: string }>(
    `select coalesce('alter table ' || quote_ident(relname) || ' drop constraint ' || quote_ident(conname),
         'drop index ' || quote_ident(index.relname_)) as drop,
       coalesce('alter table ' || quote_ident(relname) || ' add constraint ' || quote_ident(conname) || ' '
         || pg_get_constraintdef(c.oid), replace(pg_get_indexdef(index.oid_), ' ON ONLY ', ' ON ')) as create
     from pg_class t
     join lateral (select indexrelid as oid_, x.relname as relname_ from pg_index join pg_class x on x.oid = indexrelid
       where indrelid = t.oid) as index on true
     left join pg_constraint c on c.conindid = index.oid_ and c.conrelid = t.oid
     where t.relname = any($1) and t.relnamespace = current_schema()::regnamespace`,
    [FILLED_TABLES],
  );
  await database.session(async (session) => {
    await session.query(`set synchronous_commit = off`);
    // Nothing of them is under way, and a trigger would be shown all of them at once.
    await session.query(`set session_replication_role = replica`);
    await session.query(`set maintenance_work_mem = '1GB'`);
    for (const index of indexes) await session.query(index.drop);
    for (const statement of fillStatements(tenantId)) await session.query(statement);
    for (const index of indexes) await session.query(index.create);
    for (const table of FILLED_TABLES) await session.query(`vacuum analyze ${table}`);
    await session.query('checkpoint');
  });
}

/**
 * A service that took these payments in has their indexes in memory; here most of them were written and forgotten. Those of
 * keys are in Postgres's own: every payment asks for another page of them.
 */
async function readIndexes(database: Database): Promise<void> {
  await database.session(async (session) => {
    await session.query('create extension if not exists pg_prewarm');
    await session.query(READ_INDEXES, [FILLED_TABLES]);
    await session.query(`select pg_prewarm('idempotency_keys_pkey', 'buffer')`);
  });
}

const READ_INDEXES = `
select sum(pg_prewarm(indexrelid, 'read')) from pg_index
join pg_class t on t.oid = indrelid left join pg_inherits part on part.inhrelid = t.oid
where t.relkind = 'r' and coalesce(part.inhparent, t.oid) = any(select to_regclass(name) from unnest($1::text[]) as name)`;

/** In turns, so that whatever else the machine does meets both; each by a process that is new. */
async function ratesOf(full: Installation, empty: Installation): Promise<{ full: number; empty: number }> {
  await using atFull = await startPayments(full.url);
  await using atEmpty = await startPayments(empty.url);
  const rates = { full: [] as number[], empty: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const warmupSeconds = round === 0 ? WARMUP_SECONDS : 0;
    rates.empty.push(await acceptRate(atEmpty, warmupSeconds));
    rates.full.push(await acceptRate(atFull, warmupSeconds));
  }
  return { full: median(rates.full), empty: median(rates.empty) };
}

export const benchmark: Benchmark = {
  name: 'payments stored',
  async run() {
    await using opened = new AsyncDisposableStack();
    const [full, empty] = await Promise.all([install(opened), install(opened)]);
    await fill(full.database);
    await readIndexes(full.database);
    const rates = await ratesOf(full, empty);
    return [
      {
        id: 'P6',
        what: `accepted with ${STORED.toLocaleString('en')} stored, against empty`,
        ours: rates.full,
        other: rates.empty,
        unit: '/s',
        bar: { kind: 'at least', value: 0.9 },
      },
    ];
  },
};
