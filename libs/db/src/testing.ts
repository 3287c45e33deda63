import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { availableMemory } from 'node:process';
import pg from 'pg';
import { type Database, openDatabase } from './database.ts';
import { startEmbedded } from './embedded/embedded.ts';
import { type MigrationSource, migrate, readMigrations } from './migrate.ts';
import type { PlacedTables } from './spread/placement.ts';
import { spread } from './spread/spread.ts';

export {
  connectionTo,
  databaseSettings,
  PGBOUNCER,
  startPooler,
  type TestPooler,
} from '../test/pooler.ts';
export { recordTable } from './migrate.ts';

export interface TestDatabase {
  url: string;
  database: Database;
  drop(): Promise<void>;
}

export interface TestServer {
  url: string;
  stop(): Promise<void>;
}

/** Where test databases are made: the run's server sets this variable before any test starts. */
const SERVER_VARIABLE = 'TEST_POSTGRES_URL';
/** The coordinator of a Citus cluster, where the contract tests are to run on one. */
const CLUSTER_VARIABLE = 'CITUS_TEST_URL';
const DROP_ATTEMPTS_MAX = 5;

/** A file system in memory, where the machine has one. */
const MEMORY_FOLDER = '/dev/shm';
/** A whole run of the tests needs less than half of it; containers often give no more than 64 MB. */
const MEMORY_BYTES_MIN = 4 * 1024 ** 3;
const WAL_IN_MEMORY_MAX = '512MB';

/** A database is a thousand files: to make and remove them for every test file takes a disk's file system seconds. */
async function hasRoomInMemory(): Promise<boolean> {
  const room = await statfs(MEMORY_FOLDER).catch(() => undefined);
  const freeBytes = room === undefined ? 0 : room.bavail * room.bsize;
  return Math.min(freeBytes, availableMemory()) >= MEMORY_BYTES_MIN;
}

/** A throw-away server for one run of the tests; durability is off because nothing outlives the run. */
export async function startTestServer({ inMemory = false } = {}): Promise<TestServer> {
  const isInMemory = inMemory && (await hasRoomInMemory());
  const dataDir = await mkdtemp(join(isInMemory ? MEMORY_FOLDER : tmpdir(), 'test-postgres-'));
  const settings = {
    ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
    ...(isInMemory ? { max_wal_size: WAL_IN_MEMORY_MAX } : {}),
  };
  const server = await startEmbedded({ dataDir, user: 'tests', settings });
  return {
    url: server.url,
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * A database of its own for a test file, cloned from a template that has the migrations applied already. Where the run is
 * for a Citus cluster (`npm run citus`) and the test names where its tables go, it lies on that cluster, and is spread.
 */
export async function createTestDatabase(
  migrations?: MigrationSource,
  tables?: PlacedTables,
): Promise<TestDatabase> {
  const clusterUrl = process.env[CLUSTER_VARIABLE];
  if (clusterUrl !== undefined && migrations !== undefined && tables !== undefined)
    return createSpreadDatabase(clusterUrl, migrations, tables);
  const serverUrl = process.env[SERVER_VARIABLE];
  if (serverUrl === undefined)
    throw new Error(`${SERVER_VARIABLE} is not set: run the tests with npm test or vitest`);
  const template = migrations ? await ensureTemplate(serverUrl, migrations) : 'template0';
  const name = `test_${randomBytes(8).toString('hex')}`;
  await withAdmin(serverUrl, (admin) => admin.query(`create database ${name} template ${template}`));
  const url = databaseUrl(serverUrl, name);
  const database = await openDatabase({ url, schema: migrations?.schema ?? 'public' });
  return {
    url,
    database,
    async drop() {
      await database.close();
      await withAdmin(serverUrl, (admin) => admin.query(`drop database if exists ${name} with (force)`));
    },
  };
}

/**
 * A database of its own on every server of the cluster, cloned there from one that is spread already: where tables lie is
 * written in each database, and says nothing of its name.
 */
async function createSpreadDatabase(
  clusterUrl: string,
  migrations: MigrationSource,
  tables: PlacedTables,
): Promise<TestDatabase> {
  const nodes = await withAdmin(clusterUrl, readNodes);
  const template = await ensureSpreadTemplate(clusterUrl, { nodes, migrations, tables });
  const name = `test_${randomBytes(8).toString('hex')}`;
  const onEach = (sql: string) => runOnEach(clusterUrl, nodes, sql);
  await onEach(`create database ${name} template ${template} strategy file_copy`);
  const url = databaseUrl(clusterUrl, name);
  const database = await openDatabase({ url, schema: migrations.schema });
  return {
    url,
    database,
    async drop() {
      await database.close();
      // Each server has a process of Citus in every database, and those of others visit it: while nobody may connect, none comes back.
      await onEach(`alter database ${name} allow_connections false`);
      await onEach(`drop database if exists ${name} with (force)`);
    },
  };
}

/** Stays on the cluster for the runs to come; the coordinator has it last, so what it has is whole. */
async function ensureSpreadTemplate(
  clusterUrl: string,
  { nodes, migrations, tables }: { nodes: ClusterNode[]; migrations: MigrationSource; tables: PlacedTables },
): Promise<string> {
  const shards = await withAdmin(
    clusterUrl,
    async (admin) => (await admin.query('show citus.shard_count')).rows,
  );
  const name = `template_${migrations.schema}_${await hashOf(migrations, tables, nodes, shards)}`;
  await withAdmin(clusterUrl, async (admin) => {
    await admin.query('select pg_advisory_lock(hashtextextended($1, 1))', [name]);
    const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount) return;
    const draft = `${name}_draft`;
    for (const node of nodes) {
      const server = serverUrl(clusterUrl, node);
      await withAdmin(server, async (each) => {
        await each.query(`drop database if exists ${draft} with (force)`);
        await each.query(`drop database if exists ${name} with (force)`);
        await each.query(`create database ${draft}`);
      });
      await withAdmin(databaseUrl(server, draft), (each) => each.query('create extension citus'));
    }
    const url = databaseUrl(clusterUrl, draft);
    await joinNodes(url, nodes);
    await migrate(url, migrations);
    await spread({ url, tables, onPlaced: () => {} });
    // Each server has a process of Citus in every database; while nobody may connect, it does not come back.
    await runOnEach(clusterUrl, nodes, `alter database ${draft} allow_connections false`);
    for (const node of [...nodes].reverse())
      await withAdmin(serverUrl(clusterUrl, node), (each) => renameWhenLeft(each, draft, name));
  });
  return name;
}

async function joinNodes(url: string, nodes: readonly ClusterNode[]): Promise<void> {
  await withAdmin(url, async (admin) => {
    for (const { nodename, nodeport, groupid } of nodes)
      await admin.query(
        groupid === 0 ? 'select citus_set_coordinator_host($1, $2)' : 'select citus_add_node($1, $2)',
        [nodename, nodeport],
      );
  });
}

async function runOnEach(clusterUrl: string, nodes: readonly ClusterNode[], sql: string): Promise<void> {
  for (const node of nodes) await withAdmin(serverUrl(clusterUrl, node), (admin) => admin.query(sql));
}

interface ClusterNode {
  nodename: string;
  nodeport: number;
  /** The coordinator's is 0. */
  groupid: number;
}

async function readNodes(admin: pg.Client): Promise<ClusterNode[]> {
  const { rows } = await admin.query<ClusterNode>(
    'select nodename, nodeport, groupid from pg_dist_node order by groupid',
  );
  if (rows[0]?.groupid !== 0)
    throw new Error(
      `${CLUSTER_VARIABLE} names a database whose coordinator has not been told its own address`,
    );
  return rows;
}

function serverUrl(clusterUrl: string, { nodename, nodeport }: ClusterNode): string {
  const url = new URL(clusterUrl);
  url.hostname = nodename;
  url.port = String(nodeport);
  return url.href;
}

function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function withAdmin<T>(serverUrl: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: serverUrl });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

/** By what the databases that are cloned from a template differ from those of another. */
async function hashOf(source: MigrationSource, ...more: unknown[]): Promise<string> {
  const files = await readMigrations(source);
  return createHash('sha256')
    .update(JSON.stringify([source.schema, files, ...more]))
    .digest('hex')
    .slice(0, 16);
}

/** Connections that were closed, or ended here, may still be closing on the server's side. */
async function renameWhenLeft(admin: pg.Client, draft: string, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [draft]);
      await admin.query(`alter database ${draft} rename to ${name}`);
      return;
    } catch (error) {
      if (attempt >= DROP_ATTEMPTS_MAX) throw error;
      await new Promise((done) => setTimeout(done, 50 * attempt));
    }
  }
}

async function ensureTemplate(serverUrl: string, source: MigrationSource): Promise<string> {
  const name = `template_${source.schema}_${await hashOf(source)}`;
  await withAdmin(serverUrl, async (admin) => {
    // Test files start side by side: one makes the template, the others wait for it.
    await admin.query('select pg_advisory_lock(hashtextextended($1, 1))', [name]);
    const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount) return;
    const draft = `${name}_draft`;
    await admin.query(`drop database if exists ${draft} with (force)`);
    await admin.query(`create database ${draft} template template0`);
    await migrate(databaseUrl(serverUrl, draft), source);
    await renameWhenLeft(admin, draft, name);
  });
  return name;
}

/** Whether a statement of this database waits for a lock that another one holds. */
export async function somebodyWaits(database: Database): Promise<boolean> {
  const { rows } = await database.query<{ waits: boolean }>(
    `select exists (select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock') as waits`,
  );
  return rows[0]?.waits ?? false;
}
