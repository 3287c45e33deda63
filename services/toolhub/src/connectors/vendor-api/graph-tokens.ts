import { ConnectorError, type GuardedFetch, type RefreshOutcome } from '../connector.ts';
import { readJsonAnswer } from './answer.ts';
import { credentialOf, type OAuthCredential, throwIfAway } from './oauth-credential.ts';
import { countOrNull, fieldsOf } from './shape.ts';

const TOKEN_OVER = 190;
/** Half of the 60 days that a token lives: there is time for many tries. */
export const GRAPH_RENEW_AHEAD_MS = 30 * 24 * 60 * 60_000;

/** Meta has no refresh tokens: a token that still works is exchanged for one that works longer. */
export async function exchangeGraphToken(input: {
  title: string;
  url: string;
  parameters: Readonly<Record<string, string>>;
  fetch: GuardedFetch;
  now: Date;
}): Promise<RefreshOutcome<OAuthCredential>> {
  const { title, fetch, now } = input;
  const url = new URL(input.url);
  for (const [name, value] of Object.entries(input.parameters)) url.searchParams.set(name, value);
  const response = await fetch(url, { headers: { accept: 'application/json' } });
  throwIfAway(response, title, now);
  const answer = await readJsonAnswer(response, title);
  if (response.ok && answer.error === undefined)
    return { kind: 'refreshed', credential: credentialOf({ answer, now }) };
  const code = countOrNull(fieldsOf(answer.error).code);
  if (code === TOKEN_OVER) return { kind: 'refused', reason: `${title} does not accept the access token` };
  // A fault of the operator's registration must not make every customer connect anew.
  throw new ConnectorError(
    'platform_unavailable',
    `${title} did not renew the token (${code ?? response.status})`,
  );
}

/** Where a token never ends there is nothing to exchange. */
export function hasEnd({ expires_at }: OAuthCredential): boolean {
  return expires_at !== undefined;
}
