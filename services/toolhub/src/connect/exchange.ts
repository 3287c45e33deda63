import {
  ConnectorError,
  type GuardedFetch,
  type OAuthClient,
  type OAuthProvider,
} from '../connectors/connector.ts';
import { readJsonAnswer } from '../connectors/vendor-api/answer.ts';

export interface CodeToExchange {
  provider: OAuthProvider;
  client: OAuthClient;
  code: string;
  verifier: string;
  redirectUri: string;
  fetch: GuardedFetch;
}

export type ExchangeOutcome =
  | { kind: 'granted'; answer: Record<string, unknown> }
  /** The vendor does not take the code (RFC 6749 5.2); `reason` is its own word for it. */
  | { kind: 'refused'; reason: string };

const REASON = /^[A-Za-z0-9_.-]{1,60}$/;

/** The vendor's own code of an error, if it is one and not a text for people. */
export function errorCodeOf(value: unknown): string {
  return typeof value === 'string' && REASON.test(value) ? value : 'unknown_error';
}

/** Throws ConnectorError when the vendor cannot be asked now. The code was good for one try, so there is no other. */
export async function exchangeCode(input: CodeToExchange): Promise<ExchangeOutcome> {
  const { provider, client, fetch } = input;
  const response = await fetch(client.tokenUrl ?? provider.tokenUrl, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      ...(isBasic(input) ? { authorization: basic(client) } : {}),
    },
    body: formOf(input).toString(),
  });
  const isAnswer = response.status === 200 || (response.status >= 400 && response.status < 500);
  if (!isAnswer || response.status === 429) {
    throw new ConnectorError(
      'platform_unavailable',
      `${provider.title} answered ${response.status} to the code`,
    );
  }
  const answer = await readJsonAnswer(response, provider.title);
  // Some vendors say no with status 200.
  const isRefusal = response.status >= 400 || answer.ok === false || typeof answer.error === 'string';
  return isRefusal ? { kind: 'refused', reason: errorCodeOf(answer.error) } : { kind: 'granted', answer };
}

function isBasic({ provider, client }: CodeToExchange): boolean {
  return provider.clientAuthentication === 'basic' && client.clientSecret !== null;
}

function formOf(input: CodeToExchange): URLSearchParams {
  const { provider, client, code, verifier, redirectUri } = input;
  const form = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: redirectUri });
  if (provider.pkce !== false) form.set('code_verifier', verifier);
  if (isBasic(input)) return form;
  form.set('client_id', client.clientId);
  if (client.clientSecret !== null) form.set('client_secret', client.clientSecret);
  return form;
}

/** RFC 6749 2.3.1: both parts are form-encoded before they are joined. */
function basic({ clientId, clientSecret }: OAuthClient): string {
  const [user, password] = [clientId, clientSecret ?? ''].map(encodeURIComponent);
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}
