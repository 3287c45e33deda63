import { ConnectorError, type HealthProbe, type VerifyOutcome } from '../connector.ts';

/** `check` answers with the account's name (and its identity, where that matters), or throws what the platform said. */
export async function verifyBy(
  check: () => Promise<string | { account: string; identity: string }>,
): Promise<VerifyOutcome> {
  try {
    const found = await check();
    return { kind: 'accepted', ...(typeof found === 'string' ? { account: found } : found) };
  } catch (error) {
    const isRefusal =
      error instanceof ConnectorError && (error.code === 'token_expired' || error.code === 'platform_error');
    if (!isRefusal) throw error;
    return { kind: 'rejected', reason: error.message };
  }
}

export async function probeBy(check: () => Promise<unknown>): Promise<HealthProbe> {
  try {
    await check();
    return { status: 'ok', message: null };
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    if (error.code === 'token_expired') return { status: 'token_expired', message: error.message };
    return { status: error.code === 'rate_limited' ? 'degraded' : 'down', message: error.message };
  }
}
