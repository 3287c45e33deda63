import { carriedTrace, createOutage, type Outage } from '@libs/runtime';
import pg from 'pg';
import {
  type ConnectionOptions,
  checkIdentifier,
  clientOptions,
  directOptions,
  explainConnectError,
  reportSettings,
  timeoutsOf,
} from './connection/connection.ts';
import { OneConnection, type SecondConnection } from './connection/one-connection.ts';
import { checkPooledPath, settleRole } from './connection/pooled-role.ts';
import { watchSilence } from './connection/silence.ts';
import { type ListenOptions, type Subscription, subscribe } from './connection/subscription.ts';
import { withConnection } from './connection/taken.ts';
import { createServers } from './spread/servers.ts';
import { settleBy, sharedNext } from './spread/settle.ts';
import { isSchemaSpread, requireRecovery } from './spread/spread.ts';

/** Anything that runs SQL: the pool, or one transaction. */
export interface Queryable {
  query<Row extends object = Record<string, unknown>>(
    statement: string | PreparedStatement,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>>;
  /** The tables lie on several servers (Citus), which refuse what is written for many tenants by one statement. */
  readonly isSpread?: boolean;
}

/** A statement that Postgres parses once per connection. */
export interface PreparedStatement {
  readonly name: string;
  readonly text: string;
}

export interface QueryResult<Row> {
  readonly rows: Row[];
  readonly rowCount: number;
}

export interface Transaction extends Queryable {
  /**
   * Does the work once this transaction has committed, and never when it was rolled back or its outcome is unknown. The
   * work is not waited for, and what it throws is reported, not thrown: what must not be lost is a job, not this.
   */
  afterCommit(work: () => Promise<void> | void): void;
}

/** Whether what runs SQL here is a transaction, for code that also works without one. */
export function isTransaction(queryable: Queryable): queryable is Transaction {
  return 'afterCommit' in queryable;
}

export interface TransactionOptions {
  isolation?: 'read committed' | 'repeatable read' | 'serializable';
  readOnly?: boolean;
  /** For reports over many rows: lets the planner read and join whole tables, and gives each statement more time. */
  report?: boolean;
}

export interface Database extends Queryable {
  readonly url: string;
  readonly schema: string;
  /** One connection for as long as `work` runs; whatever `work` calls must use it and take no other. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** One connection beside the pool's for as long as `work` runs: session locks, cursors, COPY-like streams. */
  session<T>(work: (session: Queryable) => Promise<T>): Promise<T>;
  listen(
    channel: string,
    onMessage: (payload: string) => void,
    options?: ListenOptions,
  ): Promise<Subscription>;
  /** Where tables are spread: what was committed before is seen on every server afterwards, also after a crash. */
  settleCommits(): Promise<void>;
  /** The same for what this tenant's server shows, whichever others are away; throws while that one is. */
  settleTenant(tenantId: string): Promise<void>;
  /** Where tables are spread: which server has the rows of a tenant; the same name for all where one server has everything. */
  serverOf(tenantId: string): Promise<string>;
  /** The pool at this moment. */
  usage(): PoolUsage;
  close(): Promise<void>;
}

export interface PoolUsage {
  readonly busy: number;
  readonly idle: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
}

export interface DatabaseOptions extends ConnectionOptions {
  connectionsMax?: number;
  /** Sessions at once, beside the connections of the pool. */
  sessionsMax?: number;
  /** Told of work after a commit that failed. */
  onError?: (error: Error) => void;
  /** Lasts while connections break or cannot be made anew, where nobody waits for an answer; otherwise `onError` hears when that begins. */
  outage?: Outage | undefined;
  /**
   * Called when code inside a transaction takes a second connection, which then goes on. Where this is absent, as in
   * tests and development, it is an error instead.
   */
  onSecondConnection?: (error: SecondConnection) => void;
}

const CONNECTIONS_MAX = 10;
const SESSIONS_MAX = 8;
const IDLE_TIMEOUT_MS = 60_000;

/** How statements reach the database. */
interface Manner {
  readonly prepares: boolean;
  readonly isSpread: boolean;
}

function asQueryable(client: pg.Pool | pg.ClientBase, { prepares, isSpread }: Manner): Queryable {
  return {
    isSpread,
    async query<Row extends object>(statement: string | PreparedStatement, values?: readonly unknown[]) {
      const text = typeof statement === 'string' ? statement : statement.text;
      const config =
        typeof statement !== 'string' && prepares
          ? { name: statement.name, text, values: values as unknown[] }
          : { text, values: values as unknown[] };
      const result = await client.query<Row & pg.QueryResultRow>(config);
      return { rows: result.rows as Row[], rowCount: result.rowCount ?? 0 };
    },
  };
}

function beginStatement(wanted: TransactionOptions, options: DatabaseOptions): string {
  const begin = `begin isolation level ${wanted.isolation ?? 'read committed'}${wanted.readOnly ? ' read only' : ''}`;
  const trace = carriedTrace();
  if (!wanted.report && trace === undefined) return begin;
  return [
    begin,
    ...(wanted.report ? [reportSettings(options)] : []),
    // Jobs and deliveries that are added here keep it: their columns take it as their default.
    ...(trace === undefined ? [] : [`set local trace.parent = '${trace.replaceAll("'", "''")}'`]),
  ].join('; ');
}

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { directUrl } = options;
  if (directUrl !== undefined) await settleRole({ ...options, directUrl });
  const prepares = options.preparedStatements ?? directUrl === undefined;
  const onError = (error: unknown) =>
    options.onError?.(error instanceof Error ? error : new Error(String(error)));
  const outage = options.outage ?? createOutage({ began: onError, ended: () => {} });
  /** All idle connections break at once when the database goes; the next of either pool that is given back whole shows that it is there. */
  const pools = {};
  const silence = watchSilence(timeoutsOf(options));
  const watch = (watched: pg.Pool) => {
    silence.over(watched);
    watched.on('error', (error) => outage.failed(error, pools));
    watched.on('release', (error) => {
      if (!error) outage.worked(pools);
    });
  };
  let pool: pg.Pool;
  try {
    pool = new pg.Pool({
      ...clientOptions(options),
      max: options.connectionsMax ?? CONNECTIONS_MAX,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
    });
    watch(pool);
    await pool.query('select 1');
  } catch (error) {
    silence.stop();
    throw explainConnectError(options.url, error);
  }
  let isSpread: boolean;
  try {
    if (directUrl !== undefined) await checkPooledPath(pool, options);
    isSpread = await isSchemaSpread(pool, options.schema);
    if (isSpread) await requireRecovery(pool);
  } catch (error) {
    await pool.end();
    silence.stop();
    throw error;
  }
  const sessions = new pg.Pool({
    ...directOptions(options),
    max: options.sessionsMax ?? SESSIONS_MAX,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
  });
  watch(sessions);
  const manner = { prepares, isSpread };
  const pooled = asQueryable(pool, manner);
  const oneConnection = new OneConnection(options.onSecondConnection);
  const subscriptions = new Set<Subscription>();
  const servers = createServers(pool, options.schema);
  const settleCommits = sharedNext(() => withConnection(pool, settleBy));

  const query: Queryable['query'] = (statement, values) => {
    try {
      oneConnection.check();
    } catch (error) {
      return Promise.reject(error);
    }
    return pooled.query(statement, values);
  };

  async function transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    wanted: TransactionOptions = {},
  ): Promise<T> {
    oneConnection.check();
    const committed: (() => Promise<void> | void)[] = [];
    const result = await withConnection(pool, async (connection) => {
      if (wanted.report) silence.allowReport(connection);
      const client = asQueryable(connection, manner);
      await client.query(beginStatement(wanted, options));
      let result: T;
      try {
        const tx = {
          query: client.query,
          isSpread,
          afterCommit: (after: () => void) => void committed.push(after),
        };
        result = await oneConnection.hold(() => work(tx));
      } catch (error) {
        // The first error is the one to report; a rollback that fails means that the connection is gone.
        await client.query('rollback').catch((lost: unknown) => outage.failed(lost, pools));
        throw error;
      }
      await client.query('commit');
      return result;
    });
    for (const after of committed) void report(after);
    return result;
  }

  async function report(after: () => Promise<void> | void): Promise<void> {
    try {
      await after();
    } catch (error) {
      onError(error);
    }
  }

  return {
    url: options.url,
    schema: options.schema,
    isSpread,
    query,
    // What work that failed has left in its session, such as a lock, would stay for as long as the connection.
    session: (work) =>
      withConnection(
        sessions,
        (client) => work(asQueryable(client, { prepares: true, isSpread })),
        () => true,
      ),
    async settleCommits() {
      if (!isSpread) return;
      oneConnection.check();
      await settleCommits();
    },
    async settleTenant(tenantId) {
      if (!isSpread) return;
      oneConnection.check();
      await servers.settle(tenantId);
    },
    serverOf: (tenantId) => (isSpread ? servers.of(tenantId) : Promise.resolve('')),
    transaction,
    async listen(channel, onMessage, listenOptions = {}) {
      const subscription = await subscribe(
        { ...options, outage },
        checkIdentifier(channel),
        onMessage,
        listenOptions,
      );
      subscriptions.add(subscription);
      return {
        restart: () => subscription.restart(),
        async stop() {
          subscriptions.delete(subscription);
          await subscription.stop();
        },
      };
    },
    usage: () => ({
      busy: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    async close() {
      await Promise.all([...subscriptions].map((subscription) => subscription.stop()));
      await Promise.all([pool.end(), sessions.end()]);
      silence.stop();
      outage.left(pools);
    },
  };
}
