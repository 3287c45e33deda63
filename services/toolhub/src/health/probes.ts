import { CallTimeout, withDeadline } from '../calls/deadline.ts';
import { type Connector, ConnectorError, type HealthProbe } from '../connectors/connector.ts';
import type { ConnectorService } from '../connectors/service.ts';
import { adviceOn } from '../connectors/vendor-api/probe.ts';
import type { CredentialRecord, OpenedCredential, OpenResult } from '../credentials/credential.ts';
import type { CredentialService } from '../credentials/service.ts';
import type { Session } from '../customers/identity.ts';
import { accountsDigest, type PlatformHealth } from './report.ts';

export interface ProbesDependencies {
  connectors: Pick<ConnectorService, 'connectors' | 'context'>;
  credentials: Pick<CredentialService, 'list' | 'open' | 'openAfterRefusal' | 'rename'>;
  onError: (error: unknown, context: { platform: string }) => void;
  probeTimeoutMs?: number;
}

export interface Checked {
  accounts: string;
  platforms: PlatformHealth[];
}

export interface Probes {
  /** The accounts of a customer, as `accountsDigest` tells them apart. */
  accountsOf(customerId: string): Promise<string>;
  checkAccounts(customerId: string): Promise<Checked>;
  /** The platforms as such, asked without any account. */
  checkPlatforms(): Promise<Checked>;
}

const PROBE_TIMEOUT_MS = 15_000;
/** There is one account per platform. */
const ACCOUNTS_MAX = 1_000;
/** Credentials that change while they are looked at are looked at again. */
const ROUNDS_MAX = 2;
const SERVER_ERROR_STATUS = 500;

type Finding = Omit<PlatformHealth, 'platform' | 'token_expires_at'>;

const NOT_CONNECTED: Finding = { status: 'not_connected', latency_ms: null, message: null };
const TOKEN_EXPIRED: Finding = {
  status: 'token_expired',
  latency_ms: null,
  message: 'The connection has expired; connect the account again.',
};

export function createProbes(deps: ProbesDependencies): Probes {
  const { connectors, credentials } = deps;
  const timeoutMs = deps.probeTimeoutMs ?? PROBE_TIMEOUT_MS;
  const never = new AbortController().signal;

  const list = (customerId: string) => credentials.list({ customerId, after: '', limit: ACCOUNTS_MAX });

  /** Whatever goes wrong with one platform is a finding about that platform. */
  async function attempt<Result>(
    connector: Connector,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result | Finding> {
    try {
      return await withDeadline(never, timeoutMs, work);
    } catch (error) {
      if (error instanceof ConnectorError)
        return { status: 'down', latency_ms: null, message: adviceOn(error) };
      if (error instanceof CallTimeout) return { status: 'down', latency_ms: null, message: error.message };
      deps.onError(error, { platform: connector.id });
      return { status: 'unknown', latency_ms: null, message: 'The check could not be made.' };
    }
  }

  async function ask(
    connector: Connector,
    opened: OpenedCredential,
    signal: AbortSignal,
  ): Promise<Omit<HealthProbe, 'account'> & { latency_ms: number }> {
    const { platform, credential, customerId, account } = opened;
    const context = connectors.context({ platform, credential, customerId, account, signal });
    const startedMs = performance.now();
    const { account: found = account, ...finding } = await connector.health(context);
    const latency_ms = Math.round(performance.now() - startedMs);
    // What was stored untried, or has another name by now, gets the one that the platform has for it.
    if (found !== account) await credentials.rename(opened, found);
    return { ...finding, latency_ms };
  }

  /** A token that the platform refuses is renewed where it can be, and marked as expired where it cannot. */
  async function probe(connector: Connector, result: OpenResult, signal: AbortSignal): Promise<Finding> {
    if (result.kind === 'not_connected') return NOT_CONNECTED;
    if (result.kind === 'token_expired') return TOKEN_EXPIRED;
    if (result.kind === 'unavailable') throw result.error;
    const first = await ask(connector, result.opened, signal);
    if (first.status !== 'token_expired') return first;
    const renewed = await credentials.openAfterRefusal(result.opened);
    if (renewed.kind !== 'ok') return probe(connector, renewed, signal);
    return ask(connector, renewed.opened, signal);
  }

  async function checkOnce(customerId: string): Promise<{ checked: Checked; isSettled: boolean }> {
    const session = probeSession(customerId);
    const connected = new Set((await list(customerId)).map(({ platform }) => platform));
    // All are opened, and with that renewed, before the digest is taken: only a change from outside shows in it.
    const openings = await Promise.all(
      connectors.connectors.map(async (connector) => {
        const open = () => credentials.open({ session, platform: connector.id });
        return {
          connector,
          opening: connected.has(connector.id) ? await attempt(connector, open) : NOT_CONNECTED,
        };
      }),
    );
    const accounts = accountsDigest(await list(customerId));
    const findings = await Promise.all(
      openings.map(async ({ connector, opening }) => ({
        platform: connector.id,
        ...('status' in opening
          ? opening
          : await attempt(connector, (signal) => probe(connector, opening, signal))),
      })),
    );
    const records = await list(customerId);
    const platforms = findings.map((found) => ({
      ...found,
      token_expires_at: expiryOf(records, found.platform),
    }));
    return { checked: { accounts, platforms }, isSettled: accountsDigest(records) === accounts };
  }

  async function reach(connector: Connector): Promise<Finding> {
    const finding = await reachApi(connector);
    // Everybody reads this, and what a connection failed at may name the operator's own addresses.
    return finding.status === 'down' ? { ...finding, message: 'The platform does not answer.' } : finding;
  }

  function reachApi(connector: Connector): Promise<Finding> {
    const { id: platform } = connector;
    return attempt<Finding>(connector, async (signal) => {
      // Under a customer's rules, so that nothing passes here that a customer could not reach.
      const context = connectors.context({ platform, credential: null, customerId: '', account: '', signal });
      const url = context.baseUrl ?? connector.apiUrl;
      if (url === undefined)
        return { status: 'unknown', latency_ms: null, message: 'Every account has a server of its own.' };
      const startedMs = performance.now();
      const { status, body } = await context.fetch(url, { headers: { accept: '*/*' } });
      const latency_ms = Math.round(performance.now() - startedMs);
      await body?.cancel();
      return status >= SERVER_ERROR_STATUS
        ? { status: 'degraded', latency_ms, message: `The platform answered ${status}.` }
        : { status: 'ok', latency_ms, message: null };
    });
  }

  return {
    accountsOf: async (customerId) => accountsDigest(await list(customerId)),

    async checkAccounts(customerId) {
      let last = await checkOnce(customerId);
      for (let round = 1; round < ROUNDS_MAX && !last.isSettled; round += 1)
        last = await checkOnce(customerId);
      return last.checked;
    },

    async checkPlatforms() {
      const platforms = await Promise.all(
        connectors.connectors.map(async (connector) => ({
          platform: connector.id,
          ...(await reach(connector)),
          token_expires_at: null,
        })),
      );
      return { accounts: '', platforms };
    },
  };
}

function expiryOf(records: readonly CredentialRecord[], platform: string): string | null {
  return records.find((record) => record.platform === platform)?.expiresAt?.toISOString() ?? null;
}

/** Checks act for the customer, with the credentials alone: they have no scope to call anything. */
export function probeSession(customerId: string): Session {
  return { kind: 'customer', customerId, via: 'cookie', tokenId: null, scopes: [], audience: null };
}
