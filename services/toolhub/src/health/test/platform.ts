// A platform that counts how often it is asked, and is as well as the test wants it to be.
import { type Static, Type } from 'typebox';
import {
  type Connector,
  ConnectorError,
  defineConnector,
  type HealthProbe,
} from '../../connectors/connector.ts';

const credentialSchema = Type.Object(
  {
    token: Type.String({ minLength: 1 }),
    expires_at: Type.Optional(Type.String({ format: 'date-time' })),
    renewable: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);
type PlatformCredential = Static<typeof credentialSchema>;

export interface Platform {
  connector: Connector;
  /** The tokens that the platform was asked with, in order. */
  probes: string[];
  refreshes: number;
  delayMs: number;
  /** Tokens that the platform does not take any more. */
  revoked: Set<string>;
  respond: () => Promise<HealthProbe>;
  refuseRefresh: boolean;
}

export function createPlatform(
  id: string,
  now: () => Date,
  options: Pick<Connector, 'renewAheadMs'> = {},
): Platform {
  const platform: Platform = {
    probes: [],
    refreshes: 0,
    delayMs: 0,
    revoked: new Set(),
    respond: async () => ({ status: 'ok', message: null }),
    refuseRefresh: false,
    connector: defineConnector<PlatformCredential>({
      id,
      title: id,
      ...options,
      auth: {
        kind: 'token',
        credentialSchema,
        secretFields: ['/token'],
        accountLabel: ({ token }) => `account of ${token.length}`,
      },
      expiresAt: ({ expires_at }) => (expires_at === undefined ? null : new Date(expires_at)),
      isRefreshable: ({ renewable }) => renewable === true,
      async refresh({ credential }) {
        platform.refreshes += 1;
        if (platform.refuseRefresh) return { kind: 'refused', reason: 'invalid_grant' };
        const expires_at = new Date(now().getTime() + 3_600_000).toISOString();
        return {
          kind: 'refreshed',
          credential: { ...credential, token: `${credential.token}+`, expires_at },
        };
      },
      verify: async () => ({ kind: 'accepted', account: 'someone' }),
      async health({ credential }) {
        platform.probes.push(credential.token);
        if (platform.delayMs > 0) await new Promise((resume) => setTimeout(resume, platform.delayMs));
        if (platform.revoked.has(credential.token)) return { status: 'token_expired', message: 'revoked' };
        return platform.respond();
      },
      tools: [],
    }),
  };
  return platform;
}

export function unavailable(message: string): () => Promise<HealthProbe> {
  return () => Promise.reject(new ConnectorError('platform_unavailable', message));
}
