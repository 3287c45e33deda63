import { ConnectorError, type HealthProbe, type VerifyOutcome } from '../connector.ts';

/** The account's name, and its identity where that matters. */
type Found = string | { account: string; identity: string };

const asFound = (found: Found) => (typeof found === 'string' ? { account: found } : found);

/** `check` answers with what it found, or throws what the platform said. */
export async function verifyBy(check: () => Promise<Found>): Promise<VerifyOutcome> {
  try {
    return { kind: 'accepted', ...asFound(await check()) };
  } catch (error) {
    const isRefusal =
      error instanceof ConnectorError && (error.code === 'token_expired' || error.code === 'platform_error');
    if (!isRefusal) throw error;
    return { kind: 'rejected', reason: error.message };
  }
}

/** A check that finds no name answers with nothing. */
export async function probeBy(check: () => Promise<Found | undefined>): Promise<HealthProbe> {
  try {
    const found = await check();
    return { status: 'ok', message: null, ...(found && { account: asFound(found).account }) };
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    const message = adviceOn(error);
    if (error.code === 'token_expired') return { status: 'token_expired', message };
    return { status: error.code === 'rate_limited' ? 'degraded' : 'down', message };
  }
}

const LATER = 'It is tried again by itself; if it stays so, tell the operator.';

/** What is wrong with a connection, and what its owner can do. */
export function adviceOn({ code, message }: ConnectorError): string {
  const said = message.replace(/[.]$/, '');
  if (code === 'token_expired') return `Connect the account again: ${said}.`;
  if (code === 'rate_limited') return `Wait a little: ${said}.`;
  if (code === 'platform_unavailable') return `It cannot be used now: ${said}. ${LATER}`;
  return `It cannot be used like this: ${said}. Connect the account again with what is missing, or tell the operator.`;
}
