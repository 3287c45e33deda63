import { readJsonAnswer } from '../answer.ts';
import { ConnectorError, type RefreshOutcome, type ToolContext } from '../connector.ts';
import { type EmailCredential, type MailServer, tokenUrlOf } from './credential.ts';

const TOKEN_LENGTH_MAX = 16_384;
const RETRY_AFTER_SECONDS = 30;
const REASON_LENGTH_MAX = 100;

/** RFC 6749 6. What comes back replaces both access tokens and, where the server rotates it, the refresh token. */
export async function refreshEmail(
  context: ToolContext<EmailCredential>,
): Promise<RefreshOutcome<EmailCredential>> {
  const { credential } = context;
  const url = context.baseUrl ?? tokenUrlOf(credential);
  if (url === null) return { kind: 'refused', reason: 'no token endpoint is known for this mail server' };
  const response = await context.fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: refreshForm(credential).toString(),
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

function refreshForm({ refresh_token = '', oauth }: EmailCredential): URLSearchParams {
  return new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token,
    client_id: oauth?.client_id ?? '',
    ...(oauth?.client_secret === undefined ? {} : { client_secret: oauth.client_secret }),
    ...(oauth?.scope === undefined ? {} : { scope: oauth.scope }),
  });
}

function withTokens(
  credential: EmailCredential,
  answer: Record<string, unknown>,
  now: Date,
): EmailCredential {
  const { access_token, refresh_token, expires_in } = answer;
  if (!isToken(access_token)) {
    throw new ConnectorError('platform_unavailable', 'the token endpoint sent no access token');
  }
  const { expires_at: _old, ...kept } = credential;
  const seconds = Number(expires_in);
  return {
    ...kept,
    imap: withToken(credential.imap, access_token),
    smtp: withToken(credential.smtp, access_token),
    ...(isToken(refresh_token) ? { refresh_token } : {}),
    ...(seconds > 0 ? { expires_at: new Date(now.getTime() + seconds * 1_000).toISOString() } : {}),
  };
}

function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) && value.length <= TOKEN_LENGTH_MAX;
}

function withToken(server: MailServer, accessToken: string): MailServer {
  return 'access_token' in server ? { ...server, access_token: accessToken } : server;
}
