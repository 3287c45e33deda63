import { hash, randomBytes } from 'node:crypto';
import type { Account } from './accounts.ts';
import { call } from './accounts.ts';
import type { Visit } from './browser.ts';

export interface OAuthClient {
  client_id: string;
  client_secret?: string;
  redirect_uri: string;
}

export interface Pkce {
  verifier: string;
  challenge: string;
}

export function newPkce(): Pkce {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: hash('sha256', verifier, 'base64url') };
}

export async function registerClient(
  url: string,
  metadata: Record<string, unknown> = {},
): Promise<OAuthClient> {
  const redirect = 'http://127.0.0.1:3118/callback';
  const { status, body } = await call<{ client_id: string; client_secret?: string; redirect_uris: string[] }>(
    `${url}/oauth/register`,
    {
      body: {
        client_name: 'Test client',
        redirect_uris: [redirect],
        token_endpoint_auth_method: 'none',
        ...metadata,
      },
    },
  );
  if (status !== 201) throw new Error(`registration answered ${status}: ${JSON.stringify(body)}`);
  return {
    client_id: body.client_id,
    redirect_uri: body.redirect_uris[0] as string,
    ...(body.client_secret === undefined ? {} : { client_secret: body.client_secret }),
  };
}

export function authorizeUrl(
  url: string,
  client: OAuthClient,
  pkce: Pkce,
  extra: Record<string, string | undefined> = {},
): string {
  const parameters: Record<string, string | undefined> = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: client.redirect_uri,
    scope: 'tools:read tools:write account:read offline_access',
    resource: `${url}/mcp`,
    state: 'state-of-the-client',
    code_challenge: pkce.challenge,
    code_challenge_method: 'S256',
    ...extra,
  };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, value);
  return `${url}/oauth/authorize?${query}`;
}

/** Through the consent page as a logged-in customer; the answer is the redirect to the client. */
export async function decide(
  account: Account,
  address: string,
  decision: 'allow' | 'deny' = 'allow',
): Promise<URL> {
  const page = await account.browser.open(address);
  const answer = await account.browser.submit(page, '/consent', { decision });
  return locationOf(answer);
}

export function locationOf(visit: Visit): URL {
  const location = visit.headers.get('location');
  if (location === null)
    throw new Error(`${visit.url} answered ${visit.status}: ${visit.text.slice(0, 2_000)}`);
  return new URL(location);
}

export interface TokenAnswer {
  access_token: string;
  refresh_token?: string;
  token_type: string;
  expires_in: number;
  scope: string;
  error?: string;
}

export async function postForm<Body = TokenAnswer>(
  address: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Body; headers: Headers }> {
  const answer = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(form),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    body: (text === '' ? {} : JSON.parse(text)) as Body,
    headers: answer.headers,
  };
}

export function exchange(url: string, client: OAuthClient, code: string, pkce: Pkce) {
  return postForm(`${url}/oauth/token`, {
    grant_type: 'authorization_code',
    client_id: client.client_id,
    redirect_uri: client.redirect_uri,
    code,
    code_verifier: pkce.verifier,
  });
}

export function refresh(url: string, client: OAuthClient, refreshToken: string) {
  return postForm(`${url}/oauth/token`, {
    grant_type: 'refresh_token',
    client_id: client.client_id,
    refresh_token: refreshToken,
  });
}

/** A code for the customer, and what is needed to redeem it. */
export async function obtainCode(
  url: string,
  account: Account,
  client: OAuthClient,
  extra: Record<string, string | undefined> = {},
): Promise<{ code: string; pkce: Pkce }> {
  const pkce = newPkce();
  const location = await decide(account, authorizeUrl(url, client, pkce, extra));
  const code = location.searchParams.get('code');
  if (code === null) throw new Error(`no code in ${location.href}`);
  return { code, pkce };
}

export async function obtainTokens(
  url: string,
  account: Account,
  client: OAuthClient,
  extra: Record<string, string | undefined> = {},
): Promise<TokenAnswer> {
  const { code, pkce } = await obtainCode(url, account, client, extra);
  const { status, body } = await exchange(url, client, code, pkce);
  if (status !== 200) throw new Error(`the token endpoint answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** Opens connections that the next requests find ready, so that what is sent together arrives together. */
export async function warmUp(url: string, connections: number): Promise<void> {
  await Promise.all(Array.from({ length: connections }, async () => (await fetch(`${url}/healthz`)).text()));
}
