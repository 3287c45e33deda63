import { type Static, Type } from 'typebox';
import {
  ConnectorError,
  type OAuthClient,
  type OAuthGrant,
  type OAuthProvider,
  type RefreshOutcome,
  type ToolContext,
} from '../connector.ts';
import { readJsonAnswer } from './answer.ts';
import { pastedToken } from './credential-fields.ts';
import { momentOf } from './moment.ts';
import { retryAfterSeconds, slowDown } from './request.ts';
import { readTokens } from './tokens.ts';

const token = (description: string) => pastedToken(8_192, description);

/** What a customer stores for a platform with OAuth: pasted by hand, or made by the login in the browser. */
export const oauthCredentialSchema = Type.Object(
  {
    access_token: token('Access token of the account.'),
    refresh_token: Type.Optional(token('Renews the access token; it counts as used after one renewal.')),
    expires_at: Type.Optional(
      Type.String({ format: 'date-time', description: 'When the access token ends, if it does.' }),
    ),
  },
  {
    additionalProperties: false,
    title: 'OAuthCredential',
    examples: [{ access_token: 'xoxp-1234-5678-abcdef' }],
  },
);

export type OAuthCredential = Static<typeof oauthCredentialSchema>;

export const oauthSecretFields = ['/access_token', '/refresh_token'];

export function secretsOf({ access_token, refresh_token }: OAuthCredential): string[] {
  return refresh_token === undefined ? [access_token] : [access_token, refresh_token];
}

export function bearer({ credential }: ToolContext<OAuthCredential>): Record<string, string> {
  return { authorization: `Bearer ${credential.access_token}` };
}

export function expiresAt({ expires_at }: OAuthCredential): Date | null {
  return expires_at === undefined ? null : momentOf(expires_at);
}

/** By the grant of the standard, which wants a registration at the vendor: without one a token that ends is over. */
export function isRefreshableBy({ refresh_token }: OAuthCredential, client: OAuthClient | null): boolean {
  return refresh_token !== undefined && client !== null;
}

/** `previous` keeps its refresh token where the answer brings no new one. */
export function credentialOf(
  { answer, now }: Pick<OAuthGrant, 'answer' | 'now'>,
  previous: Partial<OAuthCredential> = {},
): OAuthCredential {
  const issued = readTokens(answer, now);
  const refreshToken = issued.refreshToken ?? previous.refresh_token;
  return {
    access_token: issued.accessToken,
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
    ...(issued.expiresAt === null ? {} : { expires_at: issued.expiresAt.toISOString() }),
  };
}

/** Answers of a token endpoint after which only the customer can help; Microsoft's want the person to log in again. */
const FINAL_ERRORS =
  /^(invalid_grant|invalid_refresh_token|token_revoked|token_expired|invalid_request|bad_refresh_token|(interaction|consent|login)_required)$/;

/** Of a token endpoint that names no error: anything else may come from a firewall in front of it. */
const MUTE_REFUSALS: ReadonlySet<number> = new Set([400, 401]);

/** The standard renewal (RFC 6749 6) with the operator's registration at the vendor. */
export async function refreshByGrant(
  context: ToolContext<OAuthCredential>,
  provider: Pick<OAuthProvider, 'id' | 'title' | 'tokenUrl' | 'clientAuthentication'>,
): Promise<RefreshOutcome<OAuthCredential>> {
  const client = context.oauthClient(provider.id);
  const { refresh_token } = context.credential;
  if (refresh_token === undefined) return { kind: 'refused', reason: 'there is no refresh token' };
  if (client === null) throw notSetUp(provider.title);
  const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token });
  const isBasic = provider.clientAuthentication === 'basic' && client.clientSecret !== null;
  if (!isBasic) {
    form.set('client_id', client.clientId);
    if (client.clientSecret !== null) form.set('client_secret', client.clientSecret);
  }
  const response = await context.fetch(client.tokenUrl ?? provider.tokenUrl, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      ...(isBasic ? { authorization: basicOf(client.clientId, client.clientSecret ?? '') } : {}),
    },
    body: form.toString(),
  });
  throwIfAway(response, provider.title, context.now());
  const answer = await readJsonAnswer(response, provider.title);
  const code = typeof answer.error === 'string' ? answer.error : undefined;
  if (!response.ok || code !== undefined) {
    const isMute = code === undefined && !MUTE_REFUSALS.has(response.status);
    return notRenewed(provider.title, isMute ? String(response.status) : code);
  }
  return { kind: 'refreshed', credential: credentialOf({ answer, now: context.now() }, context.credential) };
}

/** The registration may come back with the next start: what the customer has agreed to is still good. */
export function notSetUp(title: string): ConnectorError {
  return new ConnectorError(
    'platform_unavailable',
    `${title} is not set up on this server, so the token cannot be renewed: store a new one, or tell the operator`,
  );
}

/** A token endpoint that is busy or away says nothing about the token. */
export function throwIfAway({ status, headers }: Response, title: string, now: Date): void {
  if (status === 429) throw slowDown(title, retryAfterSeconds(headers, now));
  if (status >= 500)
    throw new ConnectorError('platform_unavailable', `${title} answered ${status} to the renewal`);
}

/** A fault of the operator's registration must not make every customer connect anew: it is no refusal of the token. */
export function notRenewed(title: string, code: string | undefined): { kind: 'refused'; reason: string } {
  if (code !== undefined && !FINAL_ERRORS.test(code))
    throw new ConnectorError(
      'platform_unavailable',
      `${title} did not renew the token (${code.slice(0, 60)})`,
    );
  return { kind: 'refused', reason: `${title} does not accept the refresh token` };
}

function basicOf(clientId: string, clientSecret: string): string {
  const [user, password] = [clientId, clientSecret].map(encodeURIComponent);
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}
