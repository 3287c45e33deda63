import Type, { type Static } from 'typebox';
import { ConnectorError, pageOf } from '../connectors/connector.ts';
import type { ConnectorService } from '../connectors/service.ts';
import { decodeCursor, encodeCursor } from '../connectors/vendor-api/cursor.ts';
import type { CredentialService } from '../credentials/service.ts';
import type { InternalSession, Session } from '../customers/identity.ts';
import { HEALTH_STATUSES } from '../health/report.ts';
import type { Health } from '../health/service.ts';
import type { AccountToolDefinition } from './tool.ts';

export interface AccountToolsDependencies {
  connectors: Pick<ConnectorService, 'connectors' | 'find' | 'context'>;
  credentials: Pick<CredentialService, 'list' | 'open' | 'internalAccounts'>;
  /** What is known of a customer's accounts, for ten minutes and in all processes. */
  health: Pick<Health, 'forCustomer'>;
  now: () => Date;
}

const PROBE_TIMEOUT_MS = 15_000;
const ACCOUNTS_MAX = 1_000;

const Account = Type.Object(
  {
    platform: Type.String(),
    account: Type.String({ description: 'What the account is called.' }),
    status: Type.Enum(['connected', 'expired'], { type: 'string' }),
    expires_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  },
  { additionalProperties: false },
);

const Probe = Type.Object(
  {
    platform: Type.String(),
    account: Type.Union([Type.String(), Type.Null()]),
    status: Type.Enum([...HEALTH_STATUSES], { type: 'string' }),
    latency_ms: Type.Union([Type.Integer(), Type.Null()]),
    message: Type.Union([Type.String(), Type.Null()]),
  },
  { additionalProperties: false },
);
type Probe = Static<typeof Probe>;

type AnySession = Session | InternalSession;

/** An account that a session can use: a customer's own, or one that the operator configured. */
interface KnownAccount {
  platform: string;
  account: string;
  status: 'connected' | 'expired';
  expiresAt: Date | null;
}

interface Checked {
  checkedAt: Date;
  cached: boolean;
  items: Probe[];
}

/** The tools of no platform. */
export function createAccountTools(deps: AccountToolsDependencies): AccountToolDefinition[] {
  const { connectors, credentials } = deps;
  const order = new Map(connectors.connectors.map(({ id }, index) => [id, index]));

  async function accountsOf(session: AnySession): Promise<KnownAccount[]> {
    if (session.kind === 'internal') {
      return connectors.connectors.flatMap(({ id }) =>
        credentials.internalAccounts
          .names(id)
          .map((account) => ({ platform: id, account, status: 'connected' as const, expiresAt: null })),
      );
    }
    const records = await credentials.list({
      customerId: session.customerId,
      after: '',
      limit: ACCOUNTS_MAX,
    });
    return records
      .filter(({ platform }) => order.has(platform))
      .sort((a, b) => (order.get(a.platform) ?? 0) - (order.get(b.platform) ?? 0));
  }

  /** A configured account belongs to no customer, so there is no report on it: it is asked each time. */
  async function probe(
    session: InternalSession,
    { platform, account }: KnownAccount,
    signal: AbortSignal,
  ): Promise<Probe> {
    const answer = (status: Probe['status'], message: string | null, latencyMs: number | null): Probe => ({
      ...{ platform, account, status, message },
      latency_ms: latencyMs === null ? null : Math.round(latencyMs),
    });
    const startedMs = performance.now();
    try {
      const result = await credentials.open({ session, platform, account });
      if (result.kind === 'not_connected') return answer('not_connected', null, null);
      if (result.kind === 'token_expired')
        return answer('token_expired', 'The connection has expired.', null);
      if (result.kind === 'unavailable') throw result.error;
      const { version: _version, ...opened } = result.opened;
      const context = connectors.context({
        ...opened,
        signal: AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]),
      });
      const health = await connectors.find(platform)?.health(context);
      if (health === undefined) return answer('unknown', null, null);
      return answer(health.status, health.message, performance.now() - startedMs);
    } catch (error) {
      signal.throwIfAborted();
      const message =
        error instanceof ConnectorError ? error.message : 'The platform did not answer in time.';
      return answer('down', message, performance.now() - startedMs);
    }
  }

  async function checkConfigured(session: InternalSession, signal: AbortSignal): Promise<Checked> {
    const accounts = await accountsOf(session);
    const items = await Promise.all(accounts.map((account) => probe(session, account, signal)));
    return { checkedAt: deps.now(), cached: false, items };
  }

  async function reportOn({ customerId }: Session): Promise<Checked> {
    const { report, cached } = await deps.health.forCustomer(customerId);
    const records = await credentials.list({ customerId, after: '', limit: ACCOUNTS_MAX });
    const names = new Map(records.map(({ platform, account }) => [platform, account]));
    const items = report.platforms
      .filter(({ status }) => status !== 'not_connected')
      .map(({ platform, status, latency_ms, message }) => ({
        ...{ platform, status, latency_ms, message },
        account: names.get(platform) ?? null,
      }));
    return { checkedAt: report.checkedAt, cached, items };
  }

  const accountsList: AccountToolDefinition = {
    name: 'accounts_list',
    title: 'List connected accounts',
    description: 'Lists the accounts that the other tools can act as, with their platform and status.',
    class: 'R',
    inputSchema: Type.Object({}, { additionalProperties: false }),
    outputSchema: pageOf(Account),
    list: true,
    untrusted: false,
    async run(args, { session }) {
      const { limit, cursor } = args as { limit: number; cursor?: string };
      const start = decodeCursor(Type.Integer({ minimum: 0 }), cursor) ?? 0;
      const accounts = await accountsOf(session);
      const end = start + limit;
      return {
        items: accounts.slice(start, end).map(({ platform, account, status, expiresAt }) => ({
          platform,
          account,
          status,
          expires_at: expiresAt?.toISOString() ?? null,
        })),
        next_cursor: end < accounts.length ? encodeCursor(end) : null,
      };
    },
  };

  const checkHealth: AccountToolDefinition = {
    name: 'accounts_check_health',
    title: 'Check the connected accounts',
    description:
      'Tells whether each connected account still works, or the one of `platform`. What was found out is kept for ten minutes.',
    class: 'R',
    inputSchema: Type.Object(
      {
        platform: Type.Optional(
          Type.Enum(
            connectors.connectors.map(({ id }) => id),
            { type: 'string', description: 'Only this platform.' },
          ),
        ),
      },
      { additionalProperties: false },
    ),
    outputSchema: Type.Object(
      {
        checked_at: Type.String({ format: 'date-time' }),
        cached: Type.Boolean({ description: 'Whether this was found out for an earlier question.' }),
        items: Type.Array(Probe),
      },
      { additionalProperties: false },
    ),
    list: false,
    untrusted: false,
    async run(args, { session, signal }) {
      const { platform } = args as { platform?: string };
      const { checkedAt, cached, items } =
        session.kind === 'internal' ? await checkConfigured(session, signal) : await reportOn(session);
      const wanted = items.filter((item) => platform === undefined || item.platform === platform);
      if (platform !== undefined && wanted.length === 0)
        wanted.push({ platform, account: null, status: 'not_connected', latency_ms: null, message: null });
      return { checked_at: checkedAt.toISOString(), cached, items: wanted };
    },
  };

  return [accountsList, checkHealth];
}
