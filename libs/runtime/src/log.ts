import { type DestinationStream, type Logger, pino } from 'pino';
import { logDestination } from './log-output.ts';
import { currentTrace } from './trace.ts';

export type { DestinationStream as LogDestination, Logger } from 'pino';

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

const REDACTED = '[redacted]';
const DEPTH_MAX = 6;

/** Names, without case and separators, whose values never reach a log, at any depth. */
const secretNames: ReadonlySet<string> = new Set([
  ...['authorization', 'proxyauthorization', 'cookie', 'setcookie', 'password', 'passphrase', 'pass'],
  ...[
    'secret',
    'clientsecret',
    'webhooksecret',
    'appsecret',
    'token',
    'accesstoken',
    'refreshtoken',
    'idtoken',
  ],
  ...[
    'bottoken',
    'admintoken',
    'metricstoken',
    'verifytoken',
    'apppassword',
    'apikey',
    'key',
    'privatekey',
    'encryptionkey',
  ],
  ...[
    'accountnumber',
    'code',
    'codeverifier',
    'sessionid',
    'databaseurl',
    'smtpurl',
    'credential',
    'credentials',
  ],
]);

const NAMES_REMEMBERED_MAX = 2_000;
const secretByName = new Map<string, boolean>();

function isSecretName(name: string): boolean {
  let secret = secretByName.get(name);
  if (secret === undefined) {
    secret = secretNames.has(name.replaceAll(/[-_\s]/g, '').toLowerCase());
    if (secretByName.size < NAMES_REMEMBERED_MAX) secretByName.set(name, secret);
  }
  return secret;
}

/** `code` is a secret of OAuth, but also the name of every error code: those are short words. */
function isErrorCode(name: string, value: unknown): boolean {
  return (
    name === 'code' &&
    typeof value === 'string' &&
    /^(?:[a-z]+(?:_[a-z0-9]+)*|[A-Z][A-Z0-9_]*|[0-9A-Z]{5})$/.test(value)
  );
}

const secretTexts: readonly [RegExp, string][] = [
  [/\b(Bearer|Basic)\s+[^\s"',;]+/gi, `$1 ${REDACTED}`],
  [/\b((?:sk_(?:test|live)|whsec|th[aioprs])_)[A-Za-z0-9+/=_-]+/g, `$1${REDACTED}`],
  [/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@:]*:[^\s/@]*@/gi, `$1${REDACTED}@`],
];

/** Takes secrets out of free text, such as messages of errors that quote what they were given. */
export function scrubText(text: string): string {
  let scrubbed = text;
  for (const [pattern, replacement] of secretTexts) scrubbed = scrubbed.replace(pattern, replacement);
  return scrubbed;
}

export function redact(fields: object): Record<string, unknown> {
  return redactFields(fields as Record<string, unknown>, DEPTH_MAX);
}

function redactFields(fields: Record<string, unknown>, depth: number): Record<string, unknown> {
  let changed: Record<string, unknown> | undefined;
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    const safe = redactValue(name, value, depth);
    if (safe !== value) {
      changed ??= { ...fields };
      changed[name] = safe;
    }
  }
  return changed ?? fields;
}

function redactValue(name: string, value: unknown, depth: number): unknown {
  if (value === undefined || value === null || typeof value === 'boolean') return value;
  if (isSecretName(name) && !isErrorCode(name, value)) return REDACTED;
  if (typeof value !== 'object' || value instanceof Error || value instanceof Date) return value;
  if (depth <= 1) return '[too deep]';
  if (!Array.isArray(value)) return redactFields(value as Record<string, unknown>, depth - 1);
  const safe = value.map((item) => redactValue('', item, depth - 1));
  return safe.some((item, index) => item !== value[index]) ? safe : value;
}

/** Only these fields: drivers hang whole rows and requests on their errors. */
function serializeError(error: unknown, depth = 3): unknown {
  if (!(error instanceof Error)) return scrubText(String(error));
  const { code } = error as Error & { code?: unknown };
  return {
    type: error.name,
    message: scrubText(error.message),
    ...(typeof code === 'string' ? { code } : {}),
    stack: scrubText(error.stack ?? ''),
    ...(error.cause === undefined || depth === 0 ? {} : { cause: serializeError(error.cause, depth - 1) }),
  };
}

/** Lines of work that follows from a request name its trace; those of the request itself do by their own. */
function traceOf(logger: Logger): object {
  const trace = currentTrace();
  if (trace === undefined || 'trace_id' in logger.bindings()) return {};
  return { trace_id: trace.traceId, parent_id: trace.parentId };
}

export type LoggerOptions = { name: string; level: LogLevel; destination?: DestinationStream };

export function createLogger(options: LoggerOptions): Logger {
  const logger = pino(
    {
      level: options.level,
      base: { service: options.name, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (error: unknown) => serializeError(error) },
      formatters: { level: (label) => ({ level: label }), log: redact },
      mixin: (_fields, _level, logger) => traceOf(logger as Logger),
    },
    options.destination ?? logDestination(),
  );
  // Pino's formatters do not see the bindings of children. Children inherit this method, so it holds at every depth.
  const { child } = logger;
  logger.child = function redactedChild(this: Logger, bindings: object, childOptions?: object) {
    return child.call(this, redact(bindings), childOptions);
  } as Logger['child'];
  return logger;
}
