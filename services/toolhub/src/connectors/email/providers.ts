import { ConnectorError, type OAuthGrant, type OAuthProvider } from '../connector.ts';
import { readTokens } from '../vendor-api/tokens.ts';
import { parseAddress } from './addresses.ts';
import type { EmailCredential } from './credential.ts';

interface Place {
  host: string;
  port: number;
  secure: boolean;
}

/** A mail service that takes access tokens, and where it answers. */
export interface MailProvider extends Omit<OAuthProvider<EmailCredential>, 'toCredential'> {
  readonly imap: Place;
  readonly smtp: Place;
}

export const MAIL_PROVIDERS: readonly MailProvider[] = [
  {
    id: 'google',
    title: 'Google',
    authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    scopes: ['openid', 'email', 'https://mail.google.com/'],
    // Without these there is a refresh token the first time only.
    authorizeParameters: { access_type: 'offline', prompt: 'consent' },
    clientAuthentication: 'body',
    imap: { host: 'imap.gmail.com', port: 993, secure: true },
    smtp: { host: 'smtp.gmail.com', port: 465, secure: true },
  },
  {
    id: 'microsoft',
    title: 'Microsoft',
    authorizeUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    tokenUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    scopes: [
      ...['openid', 'email', 'profile', 'offline_access'],
      'https://outlook.office.com/IMAP.AccessAsUser.All',
      'https://outlook.office.com/SMTP.Send',
    ],
    authorizeParameters: { prompt: 'select_account' },
    clientAuthentication: 'body',
    imap: { host: 'outlook.office365.com', port: 993, secure: true },
    smtp: { host: 'smtp.office365.com', port: 587, secure: false },
  },
];

export function oauthProviderOf(provider: MailProvider): OAuthProvider<EmailCredential> {
  return { ...provider, toCredential: (grant) => toCredential(provider, grant) };
}

function toCredential({ id, imap, smtp }: MailProvider, grant: OAuthGrant): EmailCredential {
  const { accessToken, refreshToken, expiresAt } = readTokens(grant.answer, grant.now);
  const user = addressIn(grant);
  const server = (place: Place) => ({ ...place, user, access_token: accessToken });
  return {
    imap: server(imap),
    smtp: server(smtp),
    from: user,
    ...(refreshToken === null ? {} : { refresh_token: refreshToken }),
    ...(expiresAt === null ? {} : { expires_at: expiresAt.toISOString() }),
    oauth: { provider: id },
  };
}

/**
 * Whose mailbox it is, from the ID token. It comes straight from the token endpoint, so its signature says nothing new
 * (OpenID Connect Core 3.1.3.7); that the tokens open this mailbox is tried before anything is stored.
 */
function addressIn({ answer, client }: OAuthGrant): string {
  const claims = claimsOf(answer.id_token);
  const audiences = [claims.aud].flat();
  const named = claims.email ?? claims.preferred_username;
  const address = typeof named === 'string' ? parseAddress(named)?.address : undefined;
  if (address === undefined || !audiences.includes(client.clientId)) {
    throw new ConnectorError('platform_unavailable', 'the token endpoint did not say whose mailbox it is');
  }
  return address;
}

function claimsOf(idToken: unknown): Record<string, unknown> {
  const [, payload = ''] = typeof idToken === 'string' ? idToken.split('.', 3) : [];
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return typeof claims === 'object' && claims !== null ? (claims as Record<string, unknown>) : {};
  } catch {
    // What cannot be read holds no claim; the caller says what is missing.
    return {};
  }
}
