import { ConnectorError, type RefreshOutcome, type ToolContext } from '../connector.ts';
import { readJsonAnswer } from '../vendor-api/answer.ts';
import { readTokens } from '../vendor-api/tokens.ts';
import { type EmailCredential, type MailServer, tokenUrlOf } from './credential.ts';
import { MAIL_PROVIDERS, type MailProvider } from './providers.ts';

const RETRY_AFTER_SECONDS = 30;
const REASON_LENGTH_MAX = 100;

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
  if (response.status === 429) {
    throw new ConnectorError('rate_limited', 'the token endpoint asks to slow down', {
      retryAfterSeconds: Number(response.headers.get('retry-after')) || RETRY_AFTER_SECONDS,
    });
  }
  if (response.status >= 500) {
    throw new ConnectorError('platform_unavailable', `the token endpoint answered ${response.status}`);
  }
  const answer = await readJsonAnswer(response, 'the token endpoint');
  if (response.status >= 400) {
    // RFC 6749 5.2 names the error; an answer without it comes from something else on the way.
    if (typeof answer.error === 'string')
      return { kind: 'refused', reason: answer.error.slice(0, REASON_LENGTH_MAX) };
    throw new ConnectorError('platform_unavailable', `the token endpoint answered ${response.status}`);
  }
  return { kind: 'refreshed', credential: withTokens(credential, answer, context.now()) };
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
  if (provider === undefined || client === null) {
    // The registration may come back with the next start; the customer's consent is still good.
    throw new ConnectorError('platform_unavailable', `this service is not set up for ${oauth.provider}`);
  }
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
