import type { Database } from '@libs/db';
import { checkUrl, createEgressPolicy, type ResolveHost } from '@libs/egress';
import type { RandomBytes } from '@libs/seal';
import type { Connector, OAuthClient, ToolContext } from './connector.ts';
import { ConnectorError } from './connector.ts';
import { createEgress, type Egress, type ExchangeWatch } from './egress.ts';

export interface ConnectorServiceDependencies {
  connectors: readonly Connector[];
  database: Database;
  /** `TOOLHUB_EGRESS_ALLOW`. */
  egressAllow: readonly string[];
  /** Platform → `TOOLHUB_CONNECTOR_<PLATFORM>_URL`. */
  baseUrls: Readonly<Record<string, string>>;
  /** Provider → `TOOLHUB_OAUTH_<PROVIDER>_*`. */
  oauthClients?: Readonly<Record<string, OAuthClient>>;
  now: () => Date;
  randomBytes: RandomBytes;
  /** Where this service is reached; platforms are told of it where they can reach it, too. */
  publicUrl?: string;
  resolveHost?: ResolveHost;
}

export interface ContextInput {
  platform: string;
  credential: unknown;
  customerId: string | null;
  account: string;
  signal?: AbortSignal;
  timeLeftMs?: ToolContext['timeLeftMs'];
  progress?: ToolContext['progress'];
  idempotencyKey?: string | null;
  /** Absent where nothing that is written outlives the connection. */
  stillConnected?: ToolContext['stillConnected'];
  watch?: ExchangeWatch;
}

export interface RefusedAddress {
  pointer: string;
  detail: string;
}

/** The platforms of this process, and the context that each of them runs in. */
export interface ConnectorService {
  readonly connectors: readonly Connector[];
  find(platform: string): Connector | undefined;
  context(input: ContextInput): ToolContext;
  /** The operator's registration at a vendor of this platform; another platform's vendors are none of its business. */
  oauthClient(platform: string, provider: string): OAuthClient | null;
  /** Whether a credential of this platform can be renewed without the customer, with the operator's registrations. */
  isRefreshable(platform: string, credential: unknown): boolean;
  /** Addresses in a customer's credential that the guard refuses; a name that does not resolve now is no refusal. */
  refusedAddresses(platform: string, credential: unknown): Promise<RefusedAddress[]>;
  close(): Promise<void>;
}

export function createConnectorService(deps: ConnectorServiceDependencies): ConnectorService {
  const byId = new Map(deps.connectors.map((connector) => [connector.id, connector]));
  const egresses = new Map<string, Egress>();
  const inboundBase = reachableAddress(deps.publicUrl);

  function connectorOf(platform: string): Connector {
    const connector = byId.get(platform);
    if (connector === undefined) throw new TypeError(`there is no platform ${platform}`);
    return connector;
  }

  /** One per platform, and one per internal account: their number is that of the settings, not of the customers. */
  function egressFor(key: string, extraAllow: () => string[]): Egress {
    const known = egresses.get(key);
    if (known !== undefined) return known;
    const allow = [...deps.egressAllow, ...extraAllow()];
    const egress = createEgress({ allow, ...(deps.resolveHost ? { resolve: deps.resolveHost } : {}) });
    egresses.set(key, egress);
    return egress;
  }

  function oauthClient(platform: string, provider: string): OAuthClient | null {
    const isOwn = byId.get(platform)?.auth.providers?.some(({ id }) => id === provider) ?? false;
    return (isOwn ? deps.oauthClients?.[provider] : undefined) ?? null;
  }

  /** Addresses that the operator gave for a platform pass for that platform. */
  function baseAllow(platform: string): string[] {
    const providers = byId.get(platform)?.auth.providers ?? [];
    const tokenUrls = providers.map(({ id }) => oauthClient(platform, id)?.tokenUrl);
    return [deps.baseUrls[platform], ...tokenUrls].flatMap((url) =>
      typeof url === 'string' ? [placeOf(new URL(url))] : [],
    );
  }

  /** The operator wrote the addresses of an internal account, so they pass even when they are private. */
  function egressOf({ platform, credential, customerId, account }: ContextInput): Egress {
    if (customerId !== null) return egressFor(platform, () => baseAllow(platform));
    const addresses = connectorOf(platform).auth.addresses?.(credential) ?? [];
    const places = addresses.map(({ host, port }) =>
      host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`,
    );
    return egressFor(JSON.stringify([platform, account, places]), () => [...baseAllow(platform), ...places]);
  }

  function context(input: ContextInput): ToolContext {
    const egress = egressOf(input);
    const signal = input.signal ?? new AbortController().signal;
    return {
      platform: input.platform,
      credential: input.credential,
      customerId: input.customerId,
      account: input.account,
      baseUrl: deps.baseUrls[input.platform]?.replace(/\/+$/, '') ?? null,
      inboundUrl: inboundBase === null ? null : `${inboundBase}/webhooks/${input.platform}`,
      oauthClient: (provider) => oauthClient(input.platform, provider),
      fetch: egress.fetch(signal, input.watch),
      guard: egress.guard,
      database: deps.database,
      now: deps.now,
      randomBytes: deps.randomBytes,
      signal,
      timeLeftMs: input.timeLeftMs ?? (() => Number.POSITIVE_INFINITY),
      progress: input.progress ?? (() => {}),
      idempotencyKey: input.idempotencyKey ?? null,
      stillConnected: input.stillConnected ?? (async () => true),
    };
  }

  return {
    connectors: deps.connectors,
    find: (platform) => byId.get(platform),
    context,
    oauthClient,
    isRefreshable: (platform, credential) =>
      connectorOf(platform).isRefreshable?.(credential, (provider) => oauthClient(platform, provider)) ??
      false,
    async refusedAddresses(platform, credential) {
      const { guard } = egressFor(platform, () => baseAllow(platform));
      const addresses = connectorOf(platform).auth.addresses?.(credential) ?? [];
      const checks = addresses.map(async ({ pointer, ...place }): Promise<RefusedAddress[]> => {
        try {
          await guard.resolve(place);
          return [];
        } catch (error) {
          if (!(error instanceof ConnectorError)) throw error;
          return error.code === 'address_refused' ? [{ pointer, detail: error.message }] : [];
        }
      });
      return (await Promise.all(checks)).flat();
    },
    async close() {
      await Promise.all(deps.connectors.map((connector) => connector.close?.()));
      await Promise.all([...egresses.values()].map((egress) => egress.close()));
    },
  };
}

/** Ports at which platforms send (Telegram's list is the shortest). */
const REACHABLE_PORTS = new Set(['', '80', '88', '443', '8443']);

/** The address where others reach it, too: https, and neither this machine's nor a private one. */
function reachableAddress(publicUrl: string | undefined): string | null {
  if (publicUrl === undefined) return null;
  const check = checkUrl(publicUrl, createEgressPolicy());
  if (!check.ok || check.url.protocol !== 'https:' || !REACHABLE_PORTS.has(check.url.port)) return null;
  return check.url.origin;
}

function placeOf(url: URL): string {
  return `${url.hostname}:${url.port || (url.protocol === 'http:' ? '80' : '443')}`;
}
