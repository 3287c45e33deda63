import { type Static, type TProperties, Type } from 'typebox';
import Format from 'typebox/format';
import type { ChosenPlace } from '../connector.ts';
import { placeAt } from '../vendor-api/credential-fields.ts';
import { momentOf } from '../vendor-api/moment.ts';
import { ENTRY_LENGTH_MAX, parseAddress } from './addresses.ts';

// Control characters would end a line of IMAP or SMTP, or a field of the OAuth mechanisms (\x01).
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to keep out.
const PLAIN_TEXT = /^[^\u0000-\u001f\u007f]+$/.source;

/** What can stand in the header `From`: without it no mail could be sent, and nobody would know before the first. */
const SENDER_FORMAT = 'sender';
Format.Set(SENDER_FORMAT, (entry) => parseAddress(entry) !== undefined);

const text = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: PLAIN_TEXT, description });

const closed = <Properties extends TProperties>(properties: Properties, about: object = {}) =>
  Type.Object(properties, { additionalProperties: false, ...about });

const place = {
  host: text(253, 'Name or address of the server.'),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  secure: Type.Optional(
    Type.Boolean({
      description: 'TLS from the first byte. If false, STARTTLS is required. By default true on 993 and 465.',
    }),
  ),
  user: text(320, 'User name, usually the e-mail address.'),
};

const server = Type.Union([
  closed({ ...place, password: text(1_024, 'Password, better an app password.') }),
  closed({ ...place, access_token: text(16_384, 'OAuth access token (XOAUTH2 or OAUTHBEARER).') }),
]);

export const emailCredentialSchema = closed(
  {
    imap: server,
    smtp: server,
    from: Type.String({
      minLength: 1,
      maxLength: ENTRY_LENGTH_MAX,
      format: SENDER_FORMAT,
      'x-mismatch': 'Must be one e-mail address, as a@example.com or Name <a@example.com>.',
      description: 'Sender, as `a@example.com` or `Name <a@example.com>`.',
    }),
    refresh_token: Type.Optional(text(16_384, 'Renews the access tokens.')),
    expires_at: Type.Optional(
      Type.String({ format: 'date-time', description: 'When the access tokens expire.' }),
    ),
    oauth: Type.Optional(
      Type.Union([
        closed({
          token_url: Type.Optional(text(2_048, 'Token endpoint; known for Gmail and Microsoft 365.')),
          client_id: text(512, 'The client that the tokens were issued to.'),
          client_secret: Type.Optional(text(1_024, 'Secret of a confidential client.')),
          scope: Type.Optional(text(1_024, 'Scope to ask for, where the server wants it again.')),
        }),
        closed({ provider: text(20, 'The tokens were issued to this service itself, at this vendor.') }),
      ]),
    ),
  },
  {
    title: 'EmailCredential',
    examples: [
      {
        imap: { host: 'imap.example.com', port: 993, user: 'ada@example.com', password: 'app password' },
        smtp: { host: 'smtp.example.com', port: 465, user: 'ada@example.com', password: 'app password' },
        from: 'Ada <ada@example.com>',
      },
    ],
  },
);

export type EmailCredential = Static<typeof emailCredentialSchema>;
export type MailServer = EmailCredential['imap'];

const SECURE_PORTS: ReadonlySet<number> = new Set([993, 465]);

export function isSecure(mailServer: MailServer): boolean {
  return mailServer.secure ?? SECURE_PORTS.has(mailServer.port);
}

export function usesOAuth(mailServer: MailServer): boolean {
  return 'access_token' in mailServer;
}

const TOKEN_URLS: Readonly<Record<string, string>> = {
  'imap.gmail.com': 'https://oauth2.googleapis.com/token',
  'outlook.office365.com': 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
};

export function tokenUrlOf({ imap, oauth }: EmailCredential): string | null {
  const chosen = oauth !== undefined && 'client_id' in oauth ? oauth.token_url : undefined;
  return chosen ?? TOKEN_URLS[imap.host.toLowerCase()] ?? null;
}

/** The token endpoint counts as chosen by the customer, too. */
export function addressesOf(credential: EmailCredential): ChosenPlace[] {
  const { imap, smtp, oauth } = credential;
  const addresses: ChosenPlace[] = [
    { pointer: '/imap/host', host: imap.host, port: imap.port },
    { pointer: '/smtp/host', host: smtp.host, port: smtp.port },
  ];
  if (oauth === undefined || 'provider' in oauth || oauth.token_url === undefined) return addresses;
  if (!URL.canParse(oauth.token_url))
    return [...addresses, { pointer: '/oauth/token_url', host: '', port: 443 }];
  return [...addresses, { pointer: '/oauth/token_url', ...placeAt(oauth.token_url) }];
}

export function expiryOf({ expires_at }: EmailCredential): Date | null {
  return expires_at === undefined ? null : momentOf(expires_at);
}

export function isRefreshable(credential: EmailCredential): boolean {
  const { imap, smtp, refresh_token, oauth } = credential;
  return refresh_token !== undefined && oauth !== undefined && (usesOAuth(imap) || usesOAuth(smtp));
}

export function accountLabel({ from }: EmailCredential): string {
  return parseAddress(from)?.address ?? from;
}
