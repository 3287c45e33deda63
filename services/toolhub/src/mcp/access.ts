import { acceptedOrigins } from '@libs/http';
import type { AppError } from '@libs/runtime';
import type { FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { bearerToken } from '../customers/access.ts';
import {
  ADVERTISED_SCOPES,
  type BearerResolver,
  type InternalSession,
  type Scope,
  type Session,
} from '../customers/identity.ts';
import { errors } from '../errors.ts';

export interface McpAccessDependencies {
  server: Config['server'];
  resolveBearer: BearerResolver;
}

type Caller = Session | InternalSession;

/** The first two rungs of every request to `/mcp`: who asks, and for which customer. */
export interface McpAccess {
  /** Throws 403 for an origin that is not ours, before anything is read; hosts are checked for every route. */
  checkPlace(request: FastifyRequest): void;
  /** Throws 401 with the way to a token, or 403 for one that is no use here. */
  identify(request: FastifyRequest): Caller | Promise<Caller>;
  insufficientScope(scope: Scope): AppError;
}

/** What a client asks for anew where one scope is missing: a new token must not lose what the old one could. */
const WANTED_SCOPES = 'tools:read tools:write';

export function createMcpAccess({ server, resolveBearer }: McpAccessDependencies): McpAccess {
  const { publicUrl } = server;
  const resource = `${publicUrl}/mcp`;
  const origins = acceptedOrigins(publicUrl);
  const metadata = `resource_metadata="${publicUrl}/.well-known/oauth-protected-resource/mcp"`;

  function unauthenticated(invalid: boolean): AppError {
    const error = invalid ? 'error="invalid_token", ' : '';
    return errors.unauthenticated({
      detail: invalid ? 'The token is unknown, expired or revoked.' : 'Send a Bearer token.',
      headers: { 'www-authenticate': `Bearer ${error}${metadata}, scope="${ADVERTISED_SCOPES}"` },
    });
  }

  function insufficientScope(scope: Scope): AppError {
    const wanted = scope === 'tools:write' ? WANTED_SCOPES : scope;
    return errors.insufficient_scope({
      detail: `This call needs the scope ${scope}.`,
      headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${wanted}", ${metadata}` },
    });
  }

  function requireUseful(session: Caller | null): Caller {
    if (session === null) throw unauthenticated(true);
    // RFC 8707: a token that was made for another resource is not for us.
    if (session.kind === 'customer' && session.audience !== null && session.audience !== resource)
      throw unauthenticated(true);
    if (!session.scopes.includes('tools:read') && !session.scopes.includes('tools:write'))
      throw insufficientScope('tools:read');
    return session;
  }

  return {
    insufficientScope,
    checkPlace({ headers }) {
      if (headers.origin !== undefined && !origins.has(headers.origin))
        throw errors.forbidden({ detail: 'Requests of this Origin are not answered.' });
    },
    identify({ headers }) {
      if (headers.authorization === undefined) throw unauthenticated(false);
      const token = bearerToken(headers.authorization);
      const found = token === undefined ? null : resolveBearer(token);
      return found instanceof Promise ? found.then(requireUseful) : requireUseful(found);
    },
  };
}
