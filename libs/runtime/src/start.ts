import { type AddressInfo, isIPv6 } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { scrubText } from './log.ts';
import { SettingsError } from './settings.ts';

/** A start that cannot succeed until the operator changes something; the message is the one line that says what. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

export type ListenOptions = {
  host: string;
  port: number;
  /** The variable that the operator changes when the port is taken. */
  portVariable?: string;
  hostVariable?: string;
};

type Listener = {
  listen(place: { host: string; port: number }): Promise<unknown>;
  readonly server: { address(): AddressInfo | string | null };
};

/** Listens and tells the address it got (a port of 0 takes any free one). */
export async function listen(
  app: Listener,
  options: ListenOptions,
): Promise<{ host: string; port: number; url: string }> {
  const { host, port } = options;
  try {
    await app.listen({ host, port });
  } catch (error) {
    const reason = listenFailure((error as NodeJS.ErrnoException).code, options);
    throw reason === undefined ? error : new StartError(reason, { cause: error });
  }
  const address = app.server.address();
  const actualPort = typeof address === 'object' && address !== null ? address.port : port;
  return { host, port: actualPort, url: `http://${isIPv6(host) ? `[${host}]` : host}:${actualPort}` };
}

function listenFailure(code: string | undefined, options: ListenOptions): string | undefined {
  const { host, port, portVariable = 'another port', hostVariable = 'another host' } = options;
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is in use: set ${portVariable}`;
    case 'EACCES':
      return `port ${port} on ${host} needs rights that this process does not have: set ${portVariable}`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${host} is not an address of this machine: set ${hostVariable}`;
    default:
      return undefined;
  }
}

const CAUSES_MAX = 5;

const hintByCode: Record<string, string> = {
  EADDRINUSE: 'the address is in use',
  EACCES: 'no right to write there; check DATA_DIR',
  EPERM: 'no right to write there; check DATA_DIR',
  EROFS: 'the file system is read-only; check DATA_DIR',
  ENOSPC: 'the disk is full; check DATA_DIR',
  ENOTDIR: 'a part of the path is not a folder; check DATA_DIR',
  ECONNREFUSED: 'the database does not answer; check the database URL',
  ETIMEDOUT: 'the database does not answer; check the database URL',
  ENOTFOUND: 'the host name is not known; check the database URL',
  EAI_AGAIN: 'the host name cannot be resolved now; check the database URL',
  '28P01': 'the database refuses the password; check the database URL',
  '28000': 'the database refuses the user; check the database URL',
  '3D000': 'the database does not exist; check the database URL',
  '25006': 'the database takes no writes, as one that follows another does; check the database URL',
  '53300': 'the database has no free connection',
  '57P03': 'the database is starting up; try again',
};

type ErrorClass = abstract new (...args: never[]) => Error;

type KnownFailures = {
  /** Errors of other libraries whose message is the one line to show, such as a database that cannot be reached. */
  startErrors?: readonly ErrorClass[];
  /** Whether an error means that the database is away: it may go in the middle of a start. */
  isOutage?: (error: unknown) => boolean;
};

/** The one line for a failed start; undefined for a bug, which deserves its stack. */
export function startFailure(error: unknown, failures: KnownFailures = {}): string | undefined {
  const { startErrors = [], isOutage = () => false } = failures;
  const known = [StartError, SettingsError, ...startErrors];
  for (
    let cause = error, depth = 0;
    cause instanceof Error && depth < CAUSES_MAX;
    cause = cause.cause, depth++
  ) {
    if (known.some((one) => cause instanceof one)) return cause.message;
    if (cause instanceof AggregateError) {
      const line = startFailure(cause.errors[0], failures);
      if (line !== undefined) return line;
    }
    const hint = hintOf(cause);
    if (hint !== undefined) return `${hint} (${oneLine(cause.message)})`;
    if (isOutage(cause))
      return `the database went away (${oneLine(cause.message)}): start again when it is back`;
  }
  return undefined;
}

function hintOf({ code = '', syscall }: NodeJS.ErrnoException): string | undefined {
  // A file that is missing is a bug; a place that takes no folder was chosen by the operator.
  if (code === 'ENOENT' && syscall === 'mkdir') return 'no folder can be made there; check DATA_DIR';
  return hintByCode[code];
}

function oneLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

export type MainOptions = KnownFailures & {
  write?: (line: string) => void;
  exit?: (code: number) => void;
};

/**
 * By how much of what is in use old garbage may grow before it is collected, in percent. Node lets it grow to twice to
 * four times: a worker under load kept 320 MB of which 120 were in use, and keeps 205 so, for a tenth more of its own
 * processor time. Not a limit: whoever needs more gets it. Rejected: 75 and 100, tried in single runs one after
 * the other on a machine that swings by more than they differ: one process took some 1 and 7 % less of all processors for a completed payment; 100 kept
 * a worker at 220 MB instead of 200, which is all that a service is to keep.
 */
const HEAP_GROWING_PERCENT = 50;

/** Runs a service's `main`; a start that fails ends with one line on stderr and exit code 1, never with a bare stack. */
export async function runMain(main: () => Promise<void>, options: MainOptions = {}): Promise<void> {
  const { write = (line) => process.stderr.write(line), exit = (code) => process.exit(code) } = options;
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  try {
    await main();
  } catch (error) {
    const known = startFailure(error, options);
    if (known !== undefined) write(`cannot start: ${scrubText(known)}\n`);
    else
      write(
        `cannot start: ${scrubText(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`,
      );
    exit(1);
  }
}
