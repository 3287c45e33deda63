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
  const clientWith = (clientSecret: string | null) => () => ({
    ...{ clientId: 'client-1', clientSecret, authorizeUrl: null },
    tokenUrl: `${trial.server().url}${trial.path}?of=the-operator`,
  });
  const oauthClient = clientWith('client-secret');
  const renew = (refreshToken: string, client = oauthClient) =>
    connector.refresh?.(
      trial.context({
        ...{ credential: { access_token: 'old', refresh_token: refreshToken }, oauthClient: client },
      }),
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
    expect(trial.server().received.at(-1)?.query.get('of')).toBe('the-operator');
  });

  it('keeps its refresh token where the vendor sends no other', async () => {
    const credential = { access_token: 'next', refresh_token: 'stays' };
    // A life without an end, or with one that no date can say, has none to care about.
    for (const expires_in of [undefined, 0, 1e13]) {
      const json = { access_token: 'next', expires_in };
      trial.server().failNext({ kind: 'reply', reply: { json } });
      expect(await renew('stays')).toEqual({ kind: 'refreshed', credential });
    }
  });

  it('renews with a registration that has no secret, by its id alone', async () => {
    trial.endpoint().issue('refresh-4');
    expect(await renew('refresh-4', clientWith(null))).toMatchObject({ kind: 'refreshed' });
    const { body, headers } = trial.server().received.at(-1) ?? {};
    expect(body).toMatchObject({ client_id: 'client-1' });
    expect(body).not.toHaveProperty('client_secret');
    expect(headers).not.toHaveProperty('authorization');
  });

  it('takes a refusal without a name for one of the token', async () => {
    for (const status of [400, 401]) {
      trial.server().failNext({ kind: 'reply', reply: { status, json: { message: 'revoked' } } });
      expect(await renew('refresh-5'), String(status)).toMatchObject({ kind: 'refused' });
    }
  });

  it('does not give up a connection because the vendor is away or the registration is wrong', async () => {
    trial.endpoint().issue('refresh-2');
    const busy = { status: 429, headers: { 'retry-after': '9' } };
    trial.server().failNext({ kind: 'reply', reply: busy });
    await expect(renew('refresh-2')).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 9 });
    for (const reply of [
      ...[{ status: 503 }, { status: 401, json: { error: 'invalid_client' } }],
      ...[{ status: 403, json: { message: 'Forbidden' } }, { json: { ok: false } }],
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
