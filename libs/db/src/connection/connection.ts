import pg from 'pg';
import { connectReason, driverAddress } from './address.ts';

/** How long the database may take before we stop waiting; all in milliseconds. */
export interface Timeouts {
  /** One statement. */
  readonly statementMs: number;
  /** One statement of a transaction that is opened with `report`. */
  readonly reportMs: number;
  /** A transaction in which nobody runs a statement: it holds locks and keeps old rows from being cleaned up. */
  readonly idleInTransactionMs: number;
  /** The wait for a connection, a new one or one of the pool. */
  readonly connectMs: number;
  /** How much longer than its limit a statement may go unanswered before its connection is given up. */
  readonly silenceMs: number;
}

const DEFAULT_TIMEOUTS: Timeouts = {
  statementMs: 30_000,
  reportMs: 10 * 60_000,
  idleInTransactionMs: 60_000,
  connectMs: 10_000,
  silenceMs: 10_000,
};

export interface ConnectionOptions {
  url: string;
  /**
   * The server itself, where `url` leads to a pooler that gives out connections by transaction: for what lives longer
   * than a transaction (listening, sessions). What `connectionSettings` lists is then brought by the role, because
   * poolers refuse start-up options.
   */
  directUrl?: string | undefined;
  /**
   * Whether statements are parsed once per connection. A pooler before 1.21 knows nothing of them, so behind one the
   * default is no.
   */
  preparedStatements?: boolean | undefined;
  /** Becomes the search path, so that SQL names tables without their schema. */
  schema: string;
  timeouts?: Partial<Timeouts>;
}

/** The database cannot be reached or refuses us; the message is one line for the person who starts the service. */
export class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable';
}

/**
 * A server that vanished with its machine says nothing: after so long the system asks whether it is there, ten times, once
 * a second. By itself it would begin after two hours. It asks nothing while something is on the way: see silence.ts.
 */
const KEEP_ALIVE_MS = 10_000;

const keptAlive = { keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_MS };

/** Who listens says nothing for hours: a server that ends idle sessions would end it, and what is announced meanwhile is not heard. */
const keptIdle = { idle_session_timeout: '0' };

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

export function timeoutsOf({ timeouts }: Pick<ConnectionOptions, 'timeouts'>): Timeouts {
  return { ...DEFAULT_TIMEOUTS, ...timeouts };
}

/** What every connection of a service is set to. */
export function connectionSettings(options: ConnectionOptions): Readonly<Record<string, string>> {
  const timeouts = timeoutsOf(options);
  return {
    search_path: checkIdentifier(options.schema),
    ...Object.fromEntries(lookupPlans.map((name) => [name, 'off'])),
    // Before Postgres 18 a plan that was ruled out counts as very expensive, and every small statement is compiled.
    jit: 'off',
    statement_timeout: String(timeouts.statementMs),
    idle_in_transaction_session_timeout: String(timeouts.idleInTransactionMs),
  };
}

/** What a transaction over many rows sets for itself: all plans, and more time. */
export function reportSettings(options: ConnectionOptions): string {
  return [
    ...lookupPlans.map((name) => `set local ${name} = on`),
    `set local statement_timeout = ${timeoutsOf(options).reportMs}`,
  ].join('; ');
}

/** For the pool. */
export function clientOptions(options: ConnectionOptions): pg.ClientConfig {
  const { options: _settings, ...pooled } = directOptions(options);
  return options.directUrl === undefined ? directOptions(options) : { ...pooled, ...asItIs(options.url) };
}

/** With what the address asks of the server, and nothing of ours. */
function asItIs(url: string): pg.ClientConfig {
  const { connectionString, options } = driverAddress(url);
  return { connectionString, ...(options === undefined ? {} : { options }) };
}

/** For connections that live longer than a transaction. */
export function directOptions(options: ConnectionOptions): pg.ClientConfig {
  const address = driverAddress(options.directUrl ?? options.url);
  const wanted = { ...connectionSettings(options), ...keptIdle };
  const settings = Object.entries(wanted).map(([name, value]) => `-c ${name}=${value}`);
  return {
    connectionString: address.connectionString,
    // Of two that set the same, the last one counts.
    options: [...(address.options === undefined ? [] : [address.options]), ...settings].join(' '),
    application_name: options.schema,
    connectionTimeoutMillis: timeoutsOf(options).connectMs,
    types: typeParsers,
    ...keptAlive,
  };
}

/**
 * A schema's change takes the time it takes, with every plan: the role of a service behind a pooler has the limits of
 * its requests.
 */
export const migrationSettings = [
  ...lookupPlans.map((name) => `set local ${name} = on`),
  'set local statement_timeout = 0',
  'set local idle_in_transaction_session_timeout = 0',
].join('; ');

/** Turns the driver's errors at the first connection into one line that names the setting at fault. */
export function explainConnectError(url: string, error: unknown): DatabaseUnreachable {
  let place = 'the database';
  try {
    const parsed = new URL(url);
    place = `the database at ${parsed.hostname}:${parsed.port || '5432'}${parsed.pathname}`;
  } catch {
    return new DatabaseUnreachable('the database URL is not a URL: postgres://user:password@host:port/name');
  }
  return new DatabaseUnreachable(`${place} cannot be reached: ${connectReason(error) || 'no answer'}`);
}

/** A connection beside the pools, for one piece of work. */
export async function connectAlone(
  url: string,
  applicationName: string,
  { connectMs }: Pick<Timeouts, 'connectMs'> = DEFAULT_TIMEOUTS,
): Promise<pg.Client> {
  try {
    const client = new pg.Client({
      ...asItIs(url),
      application_name: applicationName,
      // A port that takes connections and says nothing, as a proxy before a database that is away, must not hold up a start.
      connectionTimeoutMillis: connectMs,
      ...keptAlive,
    });
    // Whatever is asked next fails by it; where nobody listens, a connection that is cut ends the process with a stack.
    client.on('error', () => {});
    await client.connect();
    return client;
  } catch (error) {
    throw explainConnectError(url, error);
  }
}
