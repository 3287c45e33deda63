// A vendor's token endpoint: refresh tokens that work once, and the trials that every platform with such tokens shares.
import { expect, it } from 'vitest';
import type { Connector, ToolContext } from '../../services/toolhub/src/connectors/connector.ts';
import type { Received, Reply, Route, VendorServer } from './vendor-server.ts';

export interface TokenEndpoint {
  route: Route;
  /** Makes a refresh token that works once. */
  issue(refreshToken: string): void;
  /** Access tokens that it gave. */
  given: Set<string>;
}

const TOKEN_LIFE_SECONDS = 7_200;

/** `refusal` is the vendor's way to refuse a refresh token that is over or was used. */
export function createTokenEndpoint(refusal: Reply): TokenEndpoint {
  const usable = new Set<string>();
  const given = new Set<string>();
  return {
    given,
    issue: (refreshToken) => void usable.add(refreshToken),
    route(request) {
      const form = request.body as Record<string, string>;
      if (form.grant_type !== 'refresh_token' || !usable.delete(form.refresh_token ?? '')) return refusal;
      const next = given.size + 1;
      const [accessToken, refreshToken] = [`renewed-access-${next}`, `renewed-refresh-${next}`];
      given.add(accessToken);
      usable.add(refreshToken);
      return {
        json: {
          ...{ ok: true, access_token: accessToken, refresh_token: refreshToken },
          ...{ expires_in: TOKEN_LIFE_SECONDS, token_type: 'bearer' },
        },
      };
    },
  };
}

/** The caller of a request with a token that is known, or undefined. */
export function bearerOf(request: Received, scheme = 'Bearer'): string | undefined {
  const { authorization = '' } = request.headers;
  return authorization.startsWith(`${scheme} `) ? authorization.slice(scheme.length + 1) : undefined;
}

export interface RenewalTrial {
  connector: Connector;
  server: () => VendorServer;
  endpoint: () => TokenEndpoint;
  path: string;
  context: (overrides: { credential: unknown; oauthClient: ToolContext['oauthClient'] }) => ToolContext;
  now: Date;
}

export function tryRenewal(trial: RenewalTrial): void {
  const { connector } = trial;
  const oauthClient = () => ({
    ...{ clientId: 'client-1', clientSecret: 'client-secret', authorizeUrl: null },
    tokenUrl: `${trial.server().url}${trial.path}`,
  });
  const renew = (refreshToken: string) =>
    connector.refresh?.(
      trial.context({ credential: { access_token: 'old', refresh_token: refreshToken }, oauthClient }),
    );

  it('renews with a refresh token that works once, and stores what came back', async () => {
    trial.endpoint().issue('refresh-1');
    const outcome = await renew('refresh-1');
    expect(outcome).toMatchObject({
      kind: 'refreshed',
      credential: {
        refresh_token: expect.stringMatching(/^renewed-refresh-/),
        expires_at: new Date(trial.now.getTime() + TOKEN_LIFE_SECONDS * 1_000).toISOString(),
      },
    });
    if (outcome?.kind !== 'refreshed') return;
    expect(trial.endpoint().given).toContain((outcome.credential as { access_token: string }).access_token);
    expect(connector.expiresAt?.(outcome.credential)).toEqual(
      new Date(trial.now.getTime() + TOKEN_LIFE_SECONDS * 1_000),
    );
    expect(await renew('refresh-1')).toMatchObject({ kind: 'refused' });
  });

  it('does not give up a connection because the vendor is away or the registration is wrong', async () => {
    trial.endpoint().issue('refresh-2');
    const busy = { status: 429, headers: { 'retry-after': '9' } };
    trial.server().failNext({ kind: 'reply', reply: busy });
    await expect(renew('refresh-2')).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 9 });
    for (const reply of [
      ...[{ status: 503 }, { status: 401, json: { error: 'invalid_client' } }],
      { status: 403, json: { message: 'Forbidden' } },
    ]) {
      trial.server().failNext({ kind: 'reply', reply });
      await expect(renew('refresh-2')).rejects.toMatchObject({ code: 'platform_unavailable' });
    }
    const credential = { access_token: 'old', refresh_token: 'refresh-2' };
    const without = trial.context({ credential, oauthClient: () => null });
    await expect(connector.refresh?.(without)).rejects.toMatchObject({ code: 'platform_unavailable' });
    expect(await renew('refresh-2')).toMatchObject({ kind: 'refreshed' });
  });

  it('is renewed only where there is a refresh token, and a registration to renew it with', () => {
    const both = { access_token: 'a', refresh_token: 'b' };
    expect(connector.isRefreshable?.({ access_token: 'a' }, oauthClient)).toBe(false);
    expect(connector.isRefreshable?.(both, oauthClient)).toBe(true);
    expect(connector.isRefreshable?.(both, () => null)).toBe(false);
  });
}
