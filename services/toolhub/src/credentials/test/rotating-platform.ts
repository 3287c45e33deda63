import { type Static, Type } from 'typebox';
import { type Connector, ConnectorError, defineConnector } from '../../connectors/connector.ts';

const credentialSchema = Type.Object(
  {
    access_token: Type.String({ minLength: 1 }),
    refresh_token: Type.Optional(Type.String({ minLength: 1 })),
    expires_at: Type.Optional(Type.String({ format: 'date-time' })),
  },
  { additionalProperties: false },
);
export type RotatingCredential = Static<typeof credentialSchema>;

/** A platform whose refresh tokens are good for one use, as the strictest vendors have it. */
export interface RotatingPlatform {
  connector: Connector;
  refreshes: number;
  /** A refresh token that was presented a second time: the vendor would revoke everything. */
  reused: number;
  behaviour: 'works' | 'refuses' | 'unavailable';
  delayMs: number;
  /** Runs while the platform is being asked. */
  during: () => Promise<void>;
}

export function createRotatingPlatform(now: () => Date): RotatingPlatform {
  const used = new Set<string>();
  const platform: RotatingPlatform = {
    refreshes: 0,
    reused: 0,
    behaviour: 'works',
    delayMs: 20,
    during: async () => {},
    connector: defineConnector<RotatingCredential>({
      id: 'rotating',
      title: 'Rotating',
      auth: {
        kind: 'oauth',
        credentialSchema,
        secretFields: ['/access_token', '/refresh_token'],
        accountLabel: () => 'someone',
      },
      expiresAt: ({ expires_at }) => (expires_at === undefined ? null : new Date(expires_at)),
      isRefreshable: ({ refresh_token }) => refresh_token !== undefined,
      async refresh({ credential }) {
        platform.refreshes += 1;
        await new Promise((resolve) => setTimeout(resolve, platform.delayMs));
        await platform.during();
        if (platform.behaviour === 'unavailable') throw new ConnectorError('platform_unavailable', 'down');
        if (platform.behaviour === 'refuses') return { kind: 'refused', reason: 'invalid_grant' };
        const old = credential.refresh_token ?? '';
        if (used.has(old)) platform.reused += 1;
        used.add(old);
        const number = platform.refreshes;
        const expires_at = new Date(now().getTime() + 3_600_000).toISOString();
        return {
          kind: 'refreshed',
          credential: { access_token: `access-${number}`, refresh_token: `refresh-${number}`, expires_at },
        };
      },
      verify: async () => ({ kind: 'accepted', account: 'someone@rotating' }),
      health: async () => ({ status: 'ok', message: null }),
      tools: [],
    }),
  };
  return platform;
}
