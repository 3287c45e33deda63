import type { App, RateLimit } from '@libs/http';
import { AppError } from '@libs/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import { addressKey } from '../customers/address-key.ts';
import type { Arrivals } from './provider/arrivals.ts';
import { oauthPaths, RESOURCE_SCOPES } from './provider/provider.ts';

export interface OAuthRoutesDependencies {
  provider: Provider;
  publicUrl: string;
  arrivals: Arrivals;
  /** Sign-ups, registrations and logins per network address. */
  addressLimit: RateLimit;
  now: () => Date;
}

/** What a client gets that asks for nothing in particular. */
const DEFAULT_SCOPE = 'tools:read tools:write';
const WELL_KNOWN = '/.well-known';

/** The endpoints that the library answers, and the documents by which clients find them. */
export function registerOAuthRoutes(app: App, deps: OAuthRoutesDependencies): void {
  registerResourceMetadata(app, deps.publicUrl);
  app.register(async (scope) => {
    // The library reads bodies itself, with a limit of its own.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    const handOver = createHandOver(deps);
    const schema = { hide: true };
    scope.get(oauthPaths.authorize, { schema }, async (request, reply) => {
      request.raw.url = withDefaults(request.raw.url ?? '');
      return handOver(request, reply);
    });
    scope.get(`${oauthPaths.authorize}/:uid`, { schema }, handOver);
    for (const url of [oauthPaths.token, oauthPaths.revoke]) {
      scope.route({ method: ['POST', 'OPTIONS'], url, schema, handler: handOver });
    }
    for (const url of [
      oauthPaths.jwks,
      `${WELL_KNOWN}/oauth-authorization-server`,
      `${WELL_KNOWN}/openid-configuration`,
    ]) {
      scope.route({ method: ['GET', 'OPTIONS'], url, schema, handler: handOver });
    }
    scope.post(oauthPaths.register, { schema }, async (request, reply) => {
      reply.header('access-control-allow-origin', '*');
      try {
        await deps.addressLimit.enforce(addressKey(request.ip), reply);
      } catch (error) {
        if (!(error instanceof AppError) || error.kind !== 'rate_limited') throw error;
        return tooManyRegistrations(reply, error);
      }
      return handOver(request, reply);
    });
    scope.options(oauthPaths.register, { schema }, async (_request, reply) =>
      reply
        .code(204)
        .header('access-control-allow-origin', '*')
        .header('access-control-allow-methods', 'POST')
        .header('access-control-allow-headers', 'content-type, mcp-protocol-version')
        .send(),
    );
  });
}

function createHandOver({ provider, publicUrl, arrivals, now }: OAuthRoutesDependencies) {
  const callback = provider.callback();
  const { host, protocol } = new URL(publicUrl);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { raw } = request;
    arrivals.note(raw, { at: now(), ip: request.ip, requestId: request.id });
    // The library builds its addresses from these; a caller's own values must not decide them.
    raw.headers['x-forwarded-host'] = host;
    raw.headers['x-forwarded-proto'] = protocol.slice(0, -1);
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value);
    }
    await callback(raw, reply.raw);
  };
}

/** Consent is always asked for, and a request without scopes gets those of an ordinary client. */
function withDefaults(url: string): string {
  const [path = '', search = ''] = url.split(/\?(.*)/s, 2);
  const query = new URLSearchParams(search);
  if (!query.has('scope')) query.set('scope', DEFAULT_SCOPE);
  const prompts = query.getAll('prompt');
  // More than one is an error that the library reports.
  if (prompts.length <= 1) {
    const wanted = new Set((prompts[0] ?? '').split(' ').filter((prompt) => prompt !== ''));
    if (!wanted.has('none')) query.set('prompt', [...wanted.add('consent')].join(' '));
  }
  return `${path}?${query}`;
}

/** OAuth has no code for this; its body is what clients of this endpoint read. */
function tooManyRegistrations(reply: FastifyReply, error: AppError): FastifyReply {
  return reply
    .code(error.status)
    .headers(error.headers ?? {})
    .header('content-type', 'application/json')
    .send(
      JSON.stringify({
        error: 'temporarily_unavailable',
        error_description: 'too many registrations from this address',
      }),
    );
}

/** RFC 9728. The path of the resource comes behind the well-known one; clients that do not know it ask the root. */
function registerResourceMetadata(app: App, publicUrl: string): void {
  const document = JSON.stringify({
    resource: `${publicUrl}/mcp`,
    resource_name: 'Toolhub',
    authorization_servers: [publicUrl],
    scopes_supported: RESOURCE_SCOPES,
    bearer_methods_supported: ['header'],
    resource_documentation: `${publicUrl}/docs/`,
  });
  for (const path of ['/oauth-protected-resource', '/oauth-protected-resource/mcp']) {
    app.get(`${WELL_KNOWN}${path}`, { schema: { hide: true } }, async (_request, reply) =>
      reply
        .header('access-control-allow-origin', '*')
        .header('content-type', 'application/json')
        .send(document),
    );
  }
}
