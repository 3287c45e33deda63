/** Socket errors of a server that cannot be reached, or of a way to it that broke. */
const SOCKET_CODES: ReadonlySet<unknown> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT'],
  ...['EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
]);

/**
 * Postgres, or a pooler before it, says so itself: the connection failed (08), the server stops, crashed or starts (57P0),
 * has no free connection (53300), or takes no writes because the roles of two servers were just changed (25006). Nor does it let
 * anybody in whose password was changed there first (28), or where it is being put in another's place (3D000).
 */
const SERVER_CODES = /^(08...|28...|3D000|57P0.|53300|25006)$/;

/** The driver gives no code where the connection ended without a word. */
const DRIVER_MESSAGES =
  /^(Connection terminated|timeout e|Client (has encountered|was closed).* not queryable)/;

/**
 * Whether the database is away for now, or went away while it worked: a later try may reach it. What was under way may
 * have been committed or not, so only what is harmless when it is done twice may be tried again.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (code === undefined) return DRIVER_MESSAGES.test(error.message);
  return SOCKET_CODES.has(code) || (typeof code === 'string' && SERVER_CODES.test(code));
}

/** What Citus says, where tables are spread, when a tenant's server is away. */
const SPREAD_AWAY_CODE = 'XX000';

/** It gives on the codes of a connection that broke between two servers, too, and says in words whose that was. */
const BETWEEN_SERVERS = /^connection to the remote node /;
const AT_ANOTHER_SERVER = /\bwhile executing command on /;

/** Whether the server of a tenant is away alone: the one that the statement was sent to is there, and said so. */
export function isTenantAway(db: { readonly isSpread?: boolean }, error: unknown): boolean {
  if (db.isSpread !== true || !(error instanceof Error)) return false;
  const { code, where } = error as { code?: unknown; where?: unknown };
  if (code === SPREAD_AWAY_CODE) return true;
  const isBetween = BETWEEN_SERVERS.test(error.message) || AT_ANOTHER_SERVER.test(String(where ?? ''));
  return isBetween && isDatabaseAway(error);
}

/** A statement took longer than it may. */
const TOO_LONG_CODE = '57014';

/** For a statement that asks every server and is short where all answer: the same, also of one that stands still. */
export function isServerMissing(db: { readonly isSpread?: boolean }, error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return isTenantAway(db, error) || (db.isSpread === true && code === TOO_LONG_CODE);
}

/** Whether the database is away, or the server of a tenant alone. */
export function isAwayFrom(db: { readonly isSpread?: boolean }, error: unknown): boolean {
  return isDatabaseAway(error) || isTenantAway(db, error);
}
