import { ConnectorError, type RefreshOutcome, type ToolContext } from '../connector.ts';
import { readJsonAnswer } from '../vendor-api/answer.ts';
import { notRenewed, notSetUp, throwIfAway } from '../vendor-api/oauth-credential.ts';
import { readTokens } from '../vendor-api/tokens.ts';
import { type EmailCredential, type MailServer, tokenUrlOf } from './credential.ts';
import { MAIL_PROVIDERS, type MailProvider } from './providers.ts';

const TOKEN_ENDPOINT = 'the token endpoint';
const REASON_LENGTH_MAX = 100;
/** What RFC 6749 5.2 says of a client and of what is asked with it. */
const CLIENT_ERRORS: ReadonlySet<string> = new Set([
  'invalid_client',
  'unauthorized_client',
  'invalid_scope',
  'unsupported_grant_type',
]);

/** RFC 6749 6. What comes back replaces both access tokens and, where the server rotates it, the refresh token. */
export async function refreshEmail(
  context: ToolContext<EmailCredential>,
  providers: readonly MailProvider[] = MAIL_PROVIDERS,
): Promise<RefreshOutcome<EmailCredential>> {
  const { credential } = context;
  const { url, form } = refreshRequest(context, providers);
  if (url === null) return { kind: 'refused', reason: 'no token endpoint is known for this mail server' };
  const response = await context.fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: form.toString(),
  });
  throwIfAway(response, TOKEN_ENDPOINT, context.now());
  const answer = await readJsonAnswer(response, TOKEN_ENDPOINT);
  if (response.status >= 400) return refusalOf(answer.error, response.status, credential);
  return { kind: 'refreshed', credential: withTokens(credential, answer, context.now()) };
}

/** What the endpoint says of the operator's client is no refusal of the token; a customer's client only the customer can mend. */
function refusalOf(
  error: unknown,
  status: number,
  { oauth }: EmailCredential,
): { kind: 'refused'; reason: string } {
  // RFC 6749 5.2 names the error; an answer without it comes from something else on the way.
  if (typeof error !== 'string')
    throw new ConnectorError('platform_unavailable', `${TOKEN_ENDPOINT} answered ${status}`);
  const isOperators = oauth !== undefined && 'provider' in oauth;
  if (isOperators || !CLIENT_ERRORS.has(error)) {
    // Throws where the word is none that ends a token: a server that is busy may answer 400, too.
    const refusal = notRenewed(TOKEN_ENDPOINT, error);
    if (isOperators) return refusal;
  }
  return { kind: 'refused', reason: error.slice(0, REASON_LENGTH_MAX) };
}

/** The operator's secret goes to the vendor's own address only, a customer's client to the customer's. */
function refreshRequest(
  context: ToolContext<EmailCredential>,
  providers: readonly MailProvider[],
): { url: string | null; form: URLSearchParams } {
  const { credential, baseUrl } = context;
  const { oauth, refresh_token = '' } = credential;
  const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token });
  if (oauth === undefined || !('provider' in oauth)) {
    form.set('client_id', oauth?.client_id ?? '');
    if (oauth?.client_secret !== undefined) form.set('client_secret', oauth.client_secret);
    if (oauth?.scope !== undefined) form.set('scope', oauth.scope);
    return { url: baseUrl ?? tokenUrlOf(credential), form };
  }
  const provider = providers.find(({ id }) => id === oauth.provider);
  const client = context.oauthClient(oauth.provider);
  if (provider === undefined || client === null) throw notSetUp(provider?.title ?? oauth.provider);
  form.set('client_id', client.clientId);
  if (client.clientSecret !== null) form.set('client_secret', client.clientSecret);
  return { url: client.tokenUrl ?? provider.tokenUrl, form };
}

function withTokens(
  credential: EmailCredential,
  answer: Record<string, unknown>,
  now: Date,
): EmailCredential {
  const { accessToken, refreshToken, expiresAt } = readTokens(answer, now);
  const { expires_at: _old, ...kept } = credential;
  return {
    ...kept,
    imap: withToken(credential.imap, accessToken),
    smtp: withToken(credential.smtp, accessToken),
    ...(refreshToken === null ? {} : { refresh_token: refreshToken }),
    ...(expiresAt === null ? {} : { expires_at: expiresAt.toISOString() }),
  };
}

function withToken(server: MailServer, accessToken: string): MailServer {
  return 'access_token' in server ? { ...server, access_token: accessToken } : server;
}
