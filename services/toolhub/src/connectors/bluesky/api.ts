import { type Static, Type } from 'typebox';
import { ConnectorError, type RefreshOutcome, type ToolContext } from '../connector.ts';
import { pastedToken, serverAddress } from '../vendor-api/credential-fields.ts';
import {
  createVendorApi,
  notNow,
  refusedBy,
  tokenRefused,
  type VendorRefusal,
} from '../vendor-api/request.ts';
import { fieldsOf, shapeOf, textOrNull } from '../vendor-api/shape.ts';
import { isToken } from '../vendor-api/tokens.ts';

/*
 * The AT Protocol is one HTTP call per method (XRPC), so the shared guarded client does. @atproto/api would bring a
 * session store and an HTTP client of its own, which neither the guard nor the sealed credential see.
 */

const TITLE = 'Bluesky';
export const shape = shapeOf(TITLE);

export const blueskyCredentialSchema = Type.Object(
  {
    service: serverAddress(
      'https://bsky.social',
      'Address of the server that has the account: https://bsky.social for most.',
    ),
    identifier: Type.String({
      pattern: '^@?[!-?A-~]{1,253}$|^[^\\s@]{1,100}@[^\\s@]{1,153}$',
      'x-mismatch': 'Must be a handle, an e-mail address or a DID, without spaces.',
      description: 'Handle (name.bsky.social), e-mail address or DID of the account.',
    }),
    app_password: pastedToken(256, 'An app password, from Settings → Privacy and security → App passwords.'),
  },
  {
    additionalProperties: false,
    title: 'BlueskyCredential',
    examples: [
      { service: 'https://bsky.social', identifier: 'ada.bsky.social', app_password: 'abcd-efgh-ijkl-mnop' },
    ],
  },
);

/** What the server gave for the app password: kept sealed beside it, and renewed in its place. */
interface Session {
  did: string;
  handle: string;
  access_jwt: string;
  refresh_jwt: string;
}

export type BlueskyCredential = Static<typeof blueskyCredentialSchema> & { session?: Session };
export type BlueskyContext = ToolContext<BlueskyCredential>;

function serviceOf({ baseUrl, credential }: Pick<BlueskyContext, 'baseUrl' | 'credential'>): string {
  return baseUrl ?? new URL(credential.service).origin;
}

/** A token that is over is refused with status 400, not 401, and by its name. */
const TOKEN_ERRORS = new Set(['ExpiredToken', 'InvalidToken', 'AuthMissing', 'AuthenticationRequired']);
/** The server failed at work, or did not hear from who was at work for it: what was asked for may have been done. */
const HALFWAY_ERRORS = new Set(['UpstreamFailure', 'UpstreamTimeout', 'InternalServerError']);
const PASSING_ERRORS = new Set([...HALFWAY_ERRORS, 'NotEnoughResources']);

function explain(
  { status, body, isRead }: VendorRefusal,
  said: (text: unknown) => string,
): ConnectorError | undefined {
  const { error, message } = fieldsOf(body);
  const code = textOrNull(error);
  if (code !== null && TOKEN_ERRORS.has(code)) return tokenRefused(TITLE);
  if (status === 429) return undefined;
  const isHalfway = code !== null && HALFWAY_ERRORS.has(code);
  if (code !== null && PASSING_ERRORS.has(code))
    return notNow(`${TITLE} cannot answer now (${code})`, { isRead, isHalfway, platformCode: code });
  if (status >= 500) return undefined;
  return code === null ? undefined : refusedBy(TITLE, said(textOrNull(message) ?? code), code);
}

const rules = {
  title: TITLE,
  baseUrl: serviceOf,
  secrets: ({ app_password, session }: BlueskyCredential) => [
    app_password,
    session?.access_jwt ?? '',
    session?.refresh_jwt ?? '',
  ],
  explain,
};

/** As the account. Without a session nothing is sent: what is thrown makes the framework log in, once for all who wait. */
export const callBluesky = createVendorApi<BlueskyCredential>({
  ...rules,
  headers: ({ credential }) => ({ authorization: `Bearer ${sessionOf(credential).access_jwt}` }),
});

const callRefresh = createVendorApi<BlueskyCredential>({
  ...rules,
  headers: ({ credential }) => ({ authorization: `Bearer ${sessionOf(credential).refresh_jwt}` }),
});

const callAnonymous = createVendorApi<BlueskyCredential>({ ...rules, headers: () => ({}) });

export function sessionOf({ session }: BlueskyCredential): Session {
  if (session === undefined) throw tokenRefused(TITLE);
  return session;
}

function readSession(body: unknown): Session {
  const answer = shape.object(body);
  return {
    did: oneWord(answer.did),
    handle: oneWord(answer.handle),
    access_jwt: oneWord(answer.accessJwt),
    refresh_jwt: oneWord(answer.refreshJwt),
  };
}

/** All of a session is kept and travels in addresses and headers, whatever server it came from. */
function oneWord(value: unknown): string {
  if (isToken(value)) return value;
  throw shape.wrong();
}

export async function logIn(context: BlueskyContext): Promise<Session> {
  const { identifier, app_password } = context.credential;
  try {
    const { body } = await callAnonymous(context, {
      method: 'POST',
      path: '/xrpc/com.atproto.server.createSession',
      json: { identifier: identifier.replace(/^@/, ''), password: app_password },
    });
    return readSession(body);
  } catch (error) {
    // There is no token yet that could be refused.
    if (!(error instanceof ConnectorError) || error.code !== 'token_expired') throw error;
    throw new ConnectorError('token_expired', `${TITLE} does not accept the identifier and app password`);
  }
}

/** The refresh token first; where that is over or was used, the app password makes a new session. */
export async function renewSession(context: BlueskyContext): Promise<RefreshOutcome<BlueskyCredential>> {
  const { credential } = context;
  const renewed = credential.session === undefined ? undefined : await refreshSession(context);
  try {
    return { kind: 'refreshed', credential: { ...credential, session: renewed ?? (await logIn(context)) } };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { kind: 'refused', reason: `${TITLE} does not accept the app password` };
  }
}

async function refreshSession(context: BlueskyContext): Promise<Session | undefined> {
  try {
    const request = { method: 'POST', path: '/xrpc/com.atproto.server.refreshSession' } as const;
    return readSession((await callRefresh(context, request)).body);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return undefined;
  }
}

/** The server names each of its refusals; a bare status may come from a firewall in front of it. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof ConnectorError)) return false;
  const isNamed = error.code === 'platform_error' && !/^\d+$/.test(error.platformCode ?? '');
  return error.code === 'token_expired' || isNamed;
}

/** When the access token ends, by its own claim; the server decides, this only says when to renew ahead. */
export function sessionEnd({ session }: BlueskyCredential): Date | null {
  const claims = session?.access_jwt.split('.', 2)[1];
  if (claims === undefined) return null;
  try {
    const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as { exp?: unknown };
    return typeof exp === 'number' && exp > 0 && exp < EXP_MAX ? new Date(exp * 1_000) : null;
  } catch {
    // Not a JWT: a server may use tokens of another kind, and then it says itself when one is over.
    return null;
  }
}

const EXP_MAX = 100_000_000_000;
