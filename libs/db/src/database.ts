import pg from 'pg';

/** Anything that runs SQL: the pool, or one transaction. */
export interface Queryable {
  query<Row extends object = Record<string, unknown>>(
    statement: string | PreparedStatement,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>>;
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

export interface Subscription {
  stop(): Promise<void>;
}

export interface ListenOptions {
  /** Messages sent while the connection was down are lost: this is the moment to re-read what they announced. */
  onReconnect?: () => void;
}

export interface TransactionOptions {
  isolation?: 'read committed' | 'repeatable read' | 'serializable';
  readOnly?: boolean;
  /** For reports over many rows: lets the planner read and join whole tables, see `lookupPlans`. */
  report?: boolean;
}

export interface Database extends Queryable {
  readonly url: string;
  readonly schema: string;
  transaction<T>(work: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** One connection for as long as `work` runs: session locks, cursors, COPY-like streams. */
  session<T>(work: (session: Queryable) => Promise<T>): Promise<T>;
  listen(
    channel: string,
    onMessage: (payload: string) => void,
    options?: ListenOptions,
  ): Promise<Subscription>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  url: string;
  /** Becomes the search path, so that SQL names tables without their schema. */
  schema: string;
  connectionsMax?: number;
  applicationName?: string;
  /** Called for errors on idle connections; they are replaced, so this only informs. */
  onError?: (error: Error) => void;
}

/** The database cannot be reached or refuses us; the message is one line for the person who starts the service. */
export class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable';
}

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 60_000;
const RECONNECT_DELAY_MS = 250;
const RECONNECT_DELAY_MS_MAX = 5_000;

const INT8_OID = 20;
const DATE_OID = 1082;

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new RangeError(`int8 ${text} is beyond what a number holds exactly`);
  return value;
}

/** Money columns are int8 and dates are calendar days: neither may pass through a float or a time zone. */
const typeParsers: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (format !== 'binary' && oid === INT8_OID) return parseInt8;
    if (format !== 'binary' && oid === DATE_OID) return (text: string) => text;
    return pg.types.getTypeParser(oid, format as 'text');
  },
};

function asQueryable(client: pg.Pool | pg.ClientBase): Queryable {
  return {
    async query<Row extends object>(statement: string | PreparedStatement, values?: readonly unknown[]) {
      const config =
        typeof statement === 'string'
          ? { text: statement, values: values as unknown[] }
          : { name: statement.name, text: statement.text, values: values as unknown[] };
      const result = await client.query<Row & pg.QueryResultRow>(config);
      return { rows: result.rows as Row[], rowCount: result.rowCount ?? 0 };
    },
  };
}

export function checkIdentifier(name: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(name)) throw new TypeError(`${name} is not a plain SQL identifier`);
  return name;
}

/**
 * A prepared statement keeps the plan that it got when its tables were small: reading them whole. On tables that grow
 * by thousands of rows a second that plan is ruinous long before statistics catch up (accepting payments fell from
 * 3,300 to 480 a second within a minute). Everything in the hot paths looks rows up by key, so that is the rule here,
 * and reports ask for the other plans.
 */
const lookupPlans = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin'];

function clientOptions(options: DatabaseOptions): pg.ClientConfig {
  return {
    connectionString: options.url,
    options: [
      `-c search_path=${checkIdentifier(options.schema)}`,
      ...lookupPlans.map((name) => `-c ${name}=off`),
      // Before Postgres 18 a plan that was ruled out counts as endlessly dear, and every small statement is compiled.
      '-c jit=off',
    ].join(' '),
    application_name: options.applicationName ?? options.schema,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    types: typeParsers,
    keepAlive: true,
  };
}

/** Turns the driver's errors at the first connection into one line that names the setting at fault. */
export function explainConnectError(url: string, error: unknown): DatabaseUnreachable {
  let place = 'the database';
  try {
    const parsed = new URL(url);
    place = `the database at ${parsed.hostname}:${parsed.port || '5432'}${parsed.pathname}`;
  } catch {
    return new DatabaseUnreachable('the database URL is not a URL: postgres://user:password@host:port/name');
  }
  const reason = error instanceof Error ? error.message || (error as { code?: string }).code : String(error);
  return new DatabaseUnreachable(`${place} cannot be reached: ${reason || 'no answer'}`);
}

export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  let pool: pg.Pool;
  try {
    pool = new pg.Pool({
      ...clientOptions(options),
      max: options.connectionsMax ?? 10,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
    });
    await pool.query('select 1');
  } catch (error) {
    throw explainConnectError(options.url, error);
  }
  pool.on('error', (error) => options.onError?.(error));
  const queryable = asQueryable(pool);
  const subscriptions = new Set<Subscription>();

  async function session<T>(work: (session: Queryable) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let broken: Error | undefined;
    const onError = (error: Error) => {
      broken = error;
    };
    client.on('error', onError);
    try {
      return await work(asQueryable(client));
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  }

  function transaction<T>(work: (tx: Queryable) => Promise<T>, wanted: TransactionOptions = {}): Promise<T> {
    const begin = `begin isolation level ${wanted.isolation ?? 'read committed'}${wanted.readOnly ? ' read only' : ''}`;
    return session(async (tx) => {
      await tx.query(begin);
      if (wanted.report) for (const name of lookupPlans) await tx.query(`set local ${name} = on`);
      let result: T;
      try {
        result = await work(tx);
      } catch (error) {
        // The first error is the one to report; a rollback that fails means that the connection is gone.
        await tx.query('rollback').catch((failure: Error) => options.onError?.(failure));
        throw error;
      }
      await tx.query('commit');
      return result;
    });
  }

  return {
    url: options.url,
    schema: options.schema,
    query: queryable.query,
    session,
    transaction,
    async listen(channel, onMessage, listenOptions = {}) {
      const subscription = await subscribe(options, checkIdentifier(channel), onMessage, listenOptions);
      subscriptions.add(subscription);
      return {
        async stop() {
          subscriptions.delete(subscription);
          await subscription.stop();
        },
      };
    },
    async close() {
      await Promise.all([...subscriptions].map((subscription) => subscription.stop()));
      await pool.end();
    },
  };
}

/** A connection of its own that listens on one channel and comes back by itself when it is cut. */
async function subscribe(
  options: DatabaseOptions,
  channel: string,
  onMessage: (payload: string) => void,
  { onReconnect }: ListenOptions,
): Promise<Subscription> {
  let stopped = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const next = new pg.Client(clientOptions(options));
    next.on('notification', (message) => onMessage(message.payload ?? ''));
    next.on('error', (error) => {
      options.onError?.(error);
    });
    next.on('end', () => {
      if (client === next && !stopped) reconnect(RECONNECT_DELAY_MS);
    });
    await next.connect();
    await next.query(`listen ${channel}`);
    client = next;
  }

  function reconnect(delayMs: number): void {
    client = undefined;
    timer = setTimeout(() => {
      connect().then(
        () => (stopped ? client?.end() : onReconnect?.()),
        (error: Error) => {
          options.onError?.(error);
          if (!stopped) reconnect(Math.min(delayMs * 2, RECONNECT_DELAY_MS_MAX));
        },
      );
    }, delayMs);
  }

  await connect();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      const last = client;
      client = undefined;
      await last?.end();
    },
  };
}
