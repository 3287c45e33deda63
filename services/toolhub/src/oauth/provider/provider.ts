import { generateKeyPairSync } from 'node:crypto';
import { equalSecrets, hashToken } from '@libs/seal';
import {
  type Adapter,
  type Client,
  type ClientSchema,
  type Context,
  type ErrorBody,
  type Interaction,
  errors as oauthErrors,
  Provider,
  type ResourceServer,
  type SessionClass,
  type Token,
} from 'oidc-provider';
import { parseScopes, SCOPES, type Scope } from '../../customers/identity.ts';
import type { CookieSession } from '../../customers/service.ts';
import { CLIENT_DEFAULTS, ID_TOKEN_ALGORITHM, leaveOutForeign } from './client-metadata.ts';
import { OWN_CLIENT_ID } from './own-client.ts';
import { isLoopback, isOwnRedirect, isRegisteredRedirect, registrationFault } from './redirects.ts';

const CODE_SECONDS = 60;
const ACCESS_TOKEN_SECONDS = 60 * 60;
const REFRESH_TOKEN_SECONDS = 30 * 24 * 60 * 60;
const INTERACTION_SECONDS = 60 * 60;
/** A consent has no end of its own: it lasts as long as its refresh tokens are used. */
const GRANT_SECONDS = 10 * 365 * 24 * 60 * 60;
const REDIRECT_URIS_MAX = 20;
const CLIENT_NAME_CHARACTERS_MAX = 200;
/** Line breaks, and what turns the direction of the text around it: a name must not rewrite the consent page. */
const MISLEADING_CHARACTERS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;
/** What a client may say of itself, in a document of its own or in a registration that is kept here. */
export const CLIENT_METADATA_BYTES_MAX = 5 * 1024;

export const ACCESS_TOKEN_PREFIX = 'tho_';
const REFRESH_TOKEN_PREFIX = 'thr_';
export const RESOURCE_SCOPES: readonly Scope[] = SCOPES.filter((scope) => scope !== 'offline_access');

export const oauthPaths = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  register: '/oauth/register',
  revoke: '/oauth/revoke',
  jwks: '/oauth/jwks',
  interaction: '/oauth/interaction',
  login: '/oauth/login',
  signup: '/oauth/signup',
} as const;

/** Reaches metadata documents of clients; checks every address that it dials, and follows no redirect. */
export type FetchDocument = (
  url: string | URL,
  init: { headers: Record<string, string>; signal: AbortSignal },
) => Promise<Response>;

export interface ProviderDependencies {
  publicUrl: string;
  adapter: (model: string) => Adapter;
  /** The platform's session behind a request's cookie. */
  sessionOf(ctx: Context): Promise<CookieSession | undefined>;
  accountExists(customerId: string): Promise<boolean>;
  fetchDocument: FetchDocument;
  mayFetchDocument(): Promise<boolean>;
  renderError(ctx: Context, body: ErrorBody): void;
  /** Whether this customer, or any (null), has let the client in, so that it is known to be more than a registration. */
  hasConsent(clientId: string, customerId: string | null): Promise<boolean>;
  /** Called before the answer leaves, when a code or a refresh token has become new tokens. */
  onExchanged(ctx: Context, spent: Spent): Promise<void>;
}

export interface Spent {
  kind: 'code' | 'refresh';
  value: string;
  customerId: string;
  clientId: string;
}

/** `{public}/mcp` however a client spells it: a query narrows the tools, not the resource. */
export function isResource(text: string, publicUrl: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, pathname, username, password, hash } = new URL(text);
  return origin === publicUrl && /^\/mcp\/?$/.test(pathname) && username + password + hash === '';
}

/** Brings every spelling of our resource to one; throws for any other, before anything is consumed for it. */
export function checkResource(ctx: Context | undefined, publicUrl: string): void {
  const params = ctx?.oidc?.params;
  if (params?.resource === undefined) return;
  const wanted = [params.resource].flat();
  if (!wanted.every((resource) => isResource(resource, publicUrl))) throw new oauthErrors.InvalidTarget();
  params.resource = resourceOf(publicUrl);
}

export function resourceOf(publicUrl: string): string {
  return `${publicUrl}/mcp`;
}

/** The login page for an authorization request; the request travels in the address, so nothing is stored for strangers. */
export function loginAddress(
  params: Readonly<Record<string, unknown>>,
  page: string = oauthPaths.login,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue;
    for (const one of [value].flat()) query.append(name, String(one));
  }
  return `${page}?request=${Buffer.from(query.toString()).toString('base64url')}`;
}

export function createProvider(deps: ProviderDependencies): Provider {
  const { publicUrl } = deps;
  const provider = new Provider(publicUrl, { ...policy(deps), ...library(deps), features: features(deps) });
  // The public address is put into the forwarded headers before a request is handed over; see routes.ts.
  provider.proxy = true;
  ruleClients(provider, publicUrl);
  prefixTokens(provider);
  usePlatformSessions(provider, deps);
  const faults = new WeakMap<Context, ErrorBody>();
  provider.on('authorization.error', (ctx, { error, error_description: description }) =>
    faults.set(ctx, { error, ...(description === undefined ? {} : { error_description: description }) }),
  );
  provider.use(async (ctx, next) => {
    await next();
    await keepVisitor(ctx, faults.get(ctx), deps);
    await finish(ctx, deps);
  });
  return provider;
}

/** What this platform decides. */
function policy(deps: ProviderDependencies): Record<string, unknown> {
  return {
    scopes: SCOPES,
    responseTypes: ['code'],
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: CLIENT_DEFAULTS,
    pkce: { required: () => true },
    rotateRefreshToken: true,
    // Clients that registered for it count on it, whether or not they also ask for `offline_access`.
    issueRefreshToken: async (_ctx: Context, client: Client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    revokeGrantPolicy: () => true,
    ttl: {
      AuthorizationCode: CODE_SECONDS,
      AccessToken: ACCESS_TOKEN_SECONDS,
      RefreshToken: REFRESH_TOKEN_SECONDS,
      Grant: GRANT_SECONDS,
      Interaction: INTERACTION_SECONDS,
      Session: INTERACTION_SECONDS,
    },
    // Every request is asked about anew, so only a consent given in this very flow counts.
    loadExistingGrant: async ({ oidc }: Context) => {
      const grantId = oidc?.result?.consent?.grantId;
      return grantId === undefined ? undefined : oidc?.provider.Grant.find(grantId);
    },
    findAccount: async (_ctx: Context, customerId: string) =>
      (await deps.accountExists(customerId))
        ? { accountId: customerId, claims: async () => ({ sub: customerId }) }
        : undefined,
    // The token endpoint reads no cookie, so a page of any origin may use it.
    clientBasedCORS: () => true,
  };
}

/** How the library fits in. */
function library(deps: ProviderDependencies): Record<string, unknown> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const cookie = { httpOnly: true, sameSite: 'lax' };
  return {
    adapter: deps.adapter,
    clockTolerance: 0,
    cookies: {
      names: { session: 'toolhub_provider', interaction: 'toolhub_interaction', resume: 'toolhub_resume' },
      long: cookie,
      short: cookie,
    },
    // The library wants a key to start; nothing here is signed with it, since no ID tokens are issued.
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: ID_TOKEN_ALGORITHM }] },
    enabledJWA: { idTokenSigningAlgValues: [ID_TOKEN_ALGORITHM] },
    routes: {
      authorization: oauthPaths.authorize,
      token: oauthPaths.token,
      registration: oauthPaths.register,
      revocation: oauthPaths.revoke,
      jwks: oauthPaths.jwks,
      end_session: '/oauth/session/end',
    },
    interactions: {
      url: async (_ctx: Context, { uid, session, params }: Interaction) =>
        session === undefined ? loginAddress(params) : `${oauthPaths.interaction}/${uid}`,
    },
    renderError: async (ctx: Context, body: ErrorBody) => deps.renderError(ctx, body),
    fetch: (url: string | URL, { headers, signal }: { headers: Headers; signal: AbortSignal }) =>
      deps.fetchDocument(url, { headers: Object.fromEntries(headers), signal }),
    fetchResponseBodyLimits: {
      'client_id metadata document': CLIENT_METADATA_BYTES_MAX,
      jwks_uri: CLIENT_METADATA_BYTES_MAX,
      sector_identifier_uri: CLIENT_METADATA_BYTES_MAX,
    },
  };
}

function features(deps: ProviderDependencies): Record<string, unknown> {
  const { publicUrl } = deps;
  const resource: ResourceServer = {
    scope: RESOURCE_SCOPES.join(' '),
    audience: resourceOf(publicUrl),
    accessTokenFormat: 'opaque',
    accessTokenTTL: ACCESS_TOKEN_SECONDS,
  };
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    userinfo: { enabled: false },
    registration: { enabled: true, initialAccessToken: false, issueRegistrationAccessToken: false },
    revocation: {
      enabled: true,
      allowedPolicy: async (_ctx: Context, client: Client, token: { clientId: string }) =>
        token.clientId === client.clientId,
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: async (_ctx: Context, _client: Client, oneOf?: string[]) =>
        oneOf === undefined ? resource.audience : oneOf[0],
      useGrantedResource: async () => true,
      getResourceServerInfo: async (_ctx: Context, indicator: string) => {
        if (!isResource(indicator, publicUrl)) throw new oauthErrors.InvalidTarget();
        return resource;
      },
    },
    clientIdMetadataDocument: {
      enabled: true,
      ack: 'draft-02',
      allowFetch: () => deps.mayFetchDocument(),
      allowClient: async () => true,
    },
  };
}

/** Where clients may send browsers, and what of their registration counts. */
function ruleClients(provider: Provider, publicUrl: string): void {
  const { prototype, Schema } = provider.Client;
  prototype.redirectUriAllowed = function redirectUriAllowed(this: Client, uri: string) {
    if (typeof uri !== 'string') return false;
    return this.clientId === OWN_CLIENT_ID
      ? isOwnRedirect(uri, publicUrl)
      : isRegisteredRedirect(uri, this.redirectUris);
  };
  // Other response types are refused as such, a step later.
  prototype.responseModeAllowed = (mode, responseType) => mode === 'query' || responseType !== 'code';
  // The stored form of a secret is its hash; see the adapter.
  prototype.compareClientSecret = function compareClientSecret(this: Client, secret: string) {
    return equalSecrets(hashToken(secret).toString('hex'), this.clientSecret ?? '');
  };
  Schema.prototype.redirectUris = function redirectUris(this: ClientSchema, uris = this.redirect_uris) {
    if (this.client_id === OWN_CLIENT_ID) return;
    if (uris.length > REDIRECT_URIS_MAX)
      this.invalidate(`redirect_uris must not have more than ${REDIRECT_URIS_MAX}`);
    for (const [index, uri] of uris.entries()) {
      const fault = registrationFault(uri);
      if (fault !== undefined) this.invalidate(`redirect_uris member ${index + 1} ${fault}`);
    }
    if (typeof this.client_name === 'string') {
      if (this.client_name.length > CLIENT_NAME_CHARACTERS_MAX)
        this.invalidate(`client_name must not be longer than ${CLIENT_NAME_CHARACTERS_MAX} characters`);
      this.client_name = this.client_name.replace(MISLEADING_CHARACTERS, ' ');
    }
  };
  const { required } = Schema.prototype;
  Schema.prototype.required = function withoutForeign(this: ClientSchema) {
    leaveOutForeign(this);
    required.call(this);
  };
  // Clients register with scopes of other servers in mind (`openid profile`); those grant nothing here. A client that
  // renews its tokens may ask for `offline_access`, as every 401 tells it to, whether or not it registered for it.
  Schema.prototype.scopes = function scopes(this: ClientSchema) {
    if (this.scope === undefined) return;
    const known = parseScopes(this.scope).filter((scope) => RESOURCE_SCOPES.includes(scope));
    const renewing: Scope[] = this.grant_types?.includes('refresh_token') ? ['offline_access'] : [];
    if (known.length === 0) delete this.scope;
    else this.scope = [...known, ...renewing].join(' ');
  };
}

/** A prefix tells people and secret scanners what they are looking at, and this service where to look it up. */
function prefixTokens(provider: Provider): void {
  for (const [model, prefix] of [
    [provider.AccessToken, ACCESS_TOKEN_PREFIX],
    [provider.RefreshToken, REFRESH_TOKEN_PREFIX],
  ] as const) {
    const generate = model.prototype.generateTokenId;
    model.prototype.generateTokenId = function generateTokenId() {
      return prefix + generate.call(this);
    };
  }
}

/**
 * The platform's cookie is the only login: whoever logs out is logged out here too. The library is given a session
 * made from it for each request, marked as gone so that it is neither stored nor set as a cookie.
 */
function usePlatformSessions(provider: Provider, deps: ProviderDependencies): void {
  const Session: SessionClass = provider.Session;
  Session.get = async (ctx) => {
    const found = await deps.sessionOf(ctx);
    const session =
      found === undefined
        ? new Session()
        : new Session({
            jti: found.id,
            uid: found.id,
            accountId: found.session.customerId,
            loginTs: Math.floor(found.createdAt.getTime() / 1000),
          });
    Object.defineProperty(session, 'destroyed', { value: true });
    ctx.oidc?.entity('Session', session);
    return session;
  };
}

const BAD_REQUEST = 400;

/**
 * Anybody can register a client with any address, so a faulty request must not send a visitor there, without a click,
 * unless they have let that client in before. Somebody else's consent counts for programs on the visitor's own machine
 * alone: whoever registers a client can consent to it in no time. The visitor reads here what is wrong.
 */
async function keepVisitor(
  ctx: Context,
  fault: ErrorBody | undefined,
  deps: ProviderDependencies,
): Promise<void> {
  const { oidc } = ctx;
  if (fault === undefined || oidc?.route !== 'authorization' || ctx.response.get('location') === '') return;
  if (oidc.client !== undefined && (await isTrusted(ctx, oidc.client.clientId, deps))) return;
  ctx.remove('location');
  ctx.status = BAD_REQUEST;
  deps.renderError(ctx, fault);
}

async function isTrusted(ctx: Context, clientId: string, deps: ProviderDependencies): Promise<boolean> {
  if (clientId === OWN_CLIENT_ID || isLoopback(ctx.response.get('location')))
    return deps.hasConsent(clientId, null);
  const visitor = await deps.sessionOf(ctx);
  return visitor !== undefined && deps.hasConsent(clientId, visitor.session.customerId);
}

async function finish(ctx: Context, deps: ProviderDependencies): Promise<void> {
  const { oidc } = ctx;
  if (oidc === undefined || ctx.status !== 200) return;
  if (oidc.route === 'discovery') {
    ctx.body = { ...(ctx.body as object), scopes_supported: SCOPES, response_modes_supported: ['query'] };
  }
  if (oidc.route !== 'token') return;
  const { AuthorizationCode: code, RotatedRefreshToken: refresh } = oidc.entities;
  if (code !== undefined) await deps.onExchanged(ctx, spentOf('code', code));
  if (refresh !== undefined) await deps.onExchanged(ctx, spentOf('refresh', refresh));
}

function spentOf(kind: Spent['kind'], { jti, accountId, clientId }: Token): Spent {
  return { kind, value: jti, customerId: accountId, clientId };
}
