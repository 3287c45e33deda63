import type { App, RateLimit } from '@libs/http';
import { addressKey } from '@libs/http';
import { AppError } from '@libs/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import type { Suspensions } from '../admin/suspensions.ts';
import { ADVERTISED_SCOPES, parseScopes, type Scope } from '../customers/identity.ts';
import type { CookieSession } from '../customers/service.ts';
import type { RoutesOn } from '../route-rules.ts';
import { sendPage } from './pages/form.ts';
import { sendSuspended } from './pages/login-form.ts';
import { problemPage } from './pages/pages.ts';
import type { Arrivals } from './provider/arrivals.ts';
import { isResource, oauthPaths, RESOURCE_SCOPES, resourceOf } from './provider/provider.ts';
import { isStorable } from './provider/storable.ts';

export interface OAuthRoutesDependencies {
  provider: Provider;
  publicUrl: string;
  arrivals: Arrivals;
  /** Whoever is logged in where the request comes from, also while suspended. */
  sessionOf(request: Pick<FastifyRequest, 'headers'>): Promise<CookieSession | undefined>;
  suspensions: Pick<Suspensions, 'isSuspended' | 'refusal'>;
  routesOn: RoutesOn;
  /** Sign-ups, registrations and logins per network address. */
  addressLimit: RateLimit;
  now: () => Date;
}

/** What a client gets that asks for nothing in particular. */
const DEFAULT_SCOPE = 'tools:read tools:write';
/** Longer requests would not fit into the address of the login page. */
const REQUEST_CHARACTERS_MAX = 6_000;
/** What the library reads of a body; beyond it, it calls the body malformed. */
const BODY_BYTES_MAX = 56 * 1024;
const WELL_KNOWN = '/.well-known';
const shared = { access: 'public', audit: 'none', schema: { hide: true } } as const;

/** The endpoints that the library answers, and the documents by which clients find them. */
export function registerOAuthRoutes(app: App, deps: OAuthRoutesDependencies): void {
  registerResourceMetadata(app, deps);
  app.register(async (scope) => {
    // The library reads bodies itself, with a limit of its own.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    const routes = deps.routesOn(scope as App);
    const handOver = createHandOver(deps);
    routes.get(
      oauthPaths.authorize,
      { ...shared, rate: 'pages', idempotency: 'repeats' },
      asCustomer(deps, async (request, reply) => {
        const fault = requestFault(request.raw.url ?? '');
        if (fault !== undefined) return sendPage(reply, problemPage(fault), BAD_REQUEST);
        request.raw.url = await withDefaults(request.raw.url ?? '', deps);
        return handOver(request, reply);
      }),
    );
    routes.get(
      `${oauthPaths.authorize}/:uid`,
      { ...shared, rate: 'pages', idempotency: 'repeats' },
      asCustomer(deps, handOver),
    );
    for (const url of [oauthPaths.token, oauthPaths.revoke]) {
      routes.post(url, { ...shared, rate: 'none', idempotency: 'repeats' }, handOver);
      routes.options(url, { ...shared, rate: 'none', idempotency: 'safe' }, handOver);
    }
    for (const url of [
      oauthPaths.jwks,
      `${WELL_KNOWN}/oauth-authorization-server`,
      `${WELL_KNOWN}/openid-configuration`,
    ]) {
      routes.get(url, { ...shared, rate: 'none', idempotency: 'safe' }, handOver);
      routes.options(url, { ...shared, rate: 'none', idempotency: 'safe' }, handOver);
    }
    // The limit is asked in the handler, since its refusal has to be worded as OAuth does.
    routes.post(
      oauthPaths.register,
      { ...shared, rate: 'none', idempotency: 'repeats' },
      async (request, reply) => {
        reply.header('access-control-allow-origin', '*');
        try {
          await deps.addressLimit.enforce(addressKey(request.ip), reply);
        } catch (error) {
          if (!(error instanceof AppError) || error.kind !== 'rate_limited') throw error;
          return tooManyRegistrations(reply, error);
        }
        return handOver(request, reply);
      },
    );
    routes.options(
      oauthPaths.register,
      { ...shared, rate: 'none', idempotency: 'safe' },
      async (_request, reply) => allowPages(reply, 'POST'),
    );
  });
}

type Handle = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>;

/** For suspended customers there is no account, and somebody who is logged in without one the library cannot answer. */
function asCustomer({ sessionOf, suspensions }: OAuthRoutesDependencies, handle: Handle): Handle {
  return async (request, reply) => {
    const found = await sessionOf(request);
    const isSuspended = found !== undefined && suspensions.isSuspended(found.session.customerId);
    return isSuspended ? sendSuspended(reply, suspensions) : handle(request, reply);
  };
}

const BAD_REQUEST = 400;
const BODY_TOO_LARGE = 413;

/** What the library would choke on rather than refuse, in words for the person who sees it. */
function requestFault(url: string): { title: string; detail: string } | undefined {
  const title = 'This does not work';
  if (url.length > REQUEST_CHARACTERS_MAX)
    return { title, detail: 'The application sent a request that is too long. (invalid_request)' };
  const values = [...new URLSearchParams(queryOf(url))].flat();
  if (!values.every(isStorable))
    return { title, detail: 'The request holds characters that no text may have. (invalid_request)' };
  return undefined;
}

/** A value may hold a question mark, too. */
function queryOf(url: string): string {
  return url.split(/\?(.*)/s, 2)[1] ?? '';
}

function createHandOver({ provider, publicUrl, arrivals, now }: OAuthRoutesDependencies): Handle {
  const callback = provider.callback();
  const { host, protocol } = new URL(publicUrl);
  return async (request, reply) => {
    const { raw } = request;
    if (Number(raw.headers['content-length'] ?? 0) > BODY_BYTES_MAX) return tooLarge(reply);
    arrivals.note(raw, { at: now(), ip: request.ip, requestId: request.id });
    // The library builds its addresses from these; a caller's own values must not decide them.
    raw.headers['x-forwarded-host'] = host;
    raw.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value);
    }
    await callback(raw, reply.raw);
    return undefined;
  };
}

/**
 * What says something of an ID token, and no such token is issued: with `openid` taken out of the scopes the library refuses
 * each. How old the login may be is among them: nobody logs in anew here, so whoever is too late would be sent round for ever.
 */
const OF_OPENID = ['acr_values', 'claims', 'claims_locales', 'id_token_hint', 'max_age', 'nonce'] as const;

/**
 * The library refuses it by a page of that very kind, which sends itself off by a script: the policy of all pages keeps that from
 * running, and the visitor before a blank page. A mode that it does not know is refused by query.
 */
const SELF_SENDING = 'form_post';

/** Consent is always asked for, and a request without scopes of ours gets those of an ordinary client. */
async function withDefaults(
  url: string,
  { provider, publicUrl }: Pick<OAuthRoutesDependencies, 'provider' | 'publicUrl'>,
): Promise<string> {
  const [path = ''] = url.split('?', 1);
  const query = new URLSearchParams(queryOf(url));
  const wanted = query.getAll('scope');
  // Clients written for other servers also ask for `openid profile`; those grant nothing here.
  const known = parseScopes(wanted[0] ?? '');
  if (!known.some((scope) => RESOURCE_SCOPES.includes(scope)))
    known.unshift(...(await defaultScopes(provider, query.get('client_id') ?? '')));
  // More than one is an error that the library reports.
  if (wanted.length <= 1) query.set('scope', known.join(' '));
  for (const name of OF_OPENID) query.delete(name);
  if (query.get('response_mode') === SELF_SENDING)
    query.set('response_mode', `${SELF_SENDING} (not offered)`);
  // Every spelling of our resource is one resource, from the consent on.
  const resources = query.getAll('resource');
  if (resources.length > 0 && resources.every((resource) => isResource(resource, publicUrl)))
    query.set('resource', resourceOf(publicUrl));
  const prompts = query.getAll('prompt');
  // More than one is an error that the library reports.
  if (prompts.length <= 1) {
    const wanted = new Set((prompts[0] ?? '').split(' ').filter((prompt) => prompt !== ''));
    // There is one account here, that of who is logged in; the consent page says which.
    wanted.delete('select_account');
    if (!wanted.has('none')) query.set('prompt', [...wanted.add('consent')].join(' '));
  }
  return `${path}?${query}`;
}

/** Never more than the client registered for, which the library would refuse. */
async function defaultScopes(provider: Provider, clientId: string): Promise<Scope[]> {
  // A client that is named by the address of its document would be fetched for this alone.
  const client = URL.canParse(clientId) ? undefined : await provider.Client.find(clientId);
  if (client?.scope === undefined) return parseScopes(DEFAULT_SCOPE);
  const registered = parseScopes(client.scope).filter((scope) => RESOURCE_SCOPES.includes(scope));
  const usual = registered.filter((scope) => parseScopes(DEFAULT_SCOPE).includes(scope));
  return usual.length > 0 ? usual : registered;
}

/** Says to browsers that a page of any origin may call: nothing here looks at a cookie. */
function allowPages(reply: FastifyReply, method: 'GET' | 'POST'): FastifyReply {
  return reply
    .code(204)
    .header('access-control-allow-origin', '*')
    .header('access-control-allow-methods', method)
    .header('access-control-allow-headers', 'content-type, mcp-protocol-version')
    .send();
}

function tooLarge(reply: FastifyReply): FastifyReply {
  const error = {
    error: 'invalid_request',
    error_description: 'the body is larger than this endpoint takes',
  };
  return sendOAuthError(reply.code(BODY_TOO_LARGE), error);
}

/** OAuth has no code for this; its body is what clients of this endpoint read. */
function tooManyRegistrations(reply: FastifyReply, error: AppError): FastifyReply {
  return sendOAuthError(reply.code(error.status).headers(error.headers ?? {}), {
    error: 'temporarily_unavailable',
    error_description: 'too many registrations from this address',
  });
}

function sendOAuthError(
  reply: FastifyReply,
  body: { error: string; error_description: string },
): FastifyReply {
  return reply
    .header('access-control-allow-origin', '*')
    .header('content-type', 'application/json')
    .header('cache-control', 'no-store')
    .send(JSON.stringify(body));
}

/** RFC 9728. The path of the resource comes behind the well-known one; clients that do not know it ask the root. */
function registerResourceMetadata(app: App, { publicUrl, routesOn }: OAuthRoutesDependencies): void {
  const routes = routesOn(app);
  const document = JSON.stringify({
    resource: resourceOf(publicUrl),
    resource_name: 'Toolhub',
    authorization_servers: [publicUrl],
    scopes_supported: ADVERTISED_SCOPES.split(' '),
    bearer_methods_supported: ['header'],
    resource_documentation: `${publicUrl}/docs/`,
  });
  const name = `${WELL_KNOWN}/oauth-protected-resource`;
  for (const path of [name, `${name}/mcp`, `${name}/mcp/`]) {
    routes.get(path, { ...shared, rate: 'none', idempotency: 'safe' }, async (_request, reply) =>
      reply
        .header('access-control-allow-origin', '*')
        .header('content-type', 'application/json')
        .send(document),
    );
    // Clients that run in a page name their protocol version, for which the browser asks first.
    routes.options(path, { ...shared, rate: 'none', idempotency: 'safe' }, async (_request, reply) =>
      allowPages(reply, 'GET'),
    );
  }
}
