import { acceptedHosts, acceptedOrigins } from '@libs/http';
import type { AppError } from '@libs/runtime';
import type { FastifyRequest } from 'fastify';
import { bearerToken } from '../customers/access.ts';
import type { BearerResolver, InternalSession, Scope, Session } from '../customers/identity.ts';
import { errors } from '../errors.ts';

export interface McpAccessDependencies {
  publicUrl: string;
  resolveBearer: BearerResolver;
}

/** The first two rungs of every request to `/mcp`: who asks, and for which customer. */
export interface McpAccess {
  /** Throws 403 for a host or an origin that is not ours, before anything is read. */
  checkPlace(request: FastifyRequest): void;
  /** Throws 401 with the way to a token, or 403 for one that is no use here. */
  identify(request: FastifyRequest): Promise<Session | InternalSession>;
  insufficientScope(scope: Scope): AppError;
}

/** What a client is told to ask for: a token with both can call every tool. */
const WANTED_SCOPES = 'tools:read tools:write';

export function createMcpAccess({ publicUrl, resolveBearer }: McpAccessDependencies): McpAccess {
  const resource = `${publicUrl}/mcp`;
  const hosts = acceptedHosts(publicUrl);
  const origins = acceptedOrigins(publicUrl);
  const metadata = `resource_metadata="${publicUrl}/.well-known/oauth-protected-resource/mcp"`;

  function unauthenticated(invalid: boolean): AppError {
    const error = invalid ? 'error="invalid_token", ' : '';
    return errors.unauthenticated({
      detail: invalid ? 'The token is unknown, expired or revoked.' : 'Send a Bearer token.',
      headers: { 'www-authenticate': `Bearer ${error}${metadata}, scope="${WANTED_SCOPES}"` },
    });
  }

  function insufficientScope(scope: Scope): AppError {
    // Both, where writing is asked for: a new token must not lose what the old one could.
    const wanted = scope === 'tools:write' ? WANTED_SCOPES : scope;
    return errors.insufficient_scope({
      detail: `This call needs the scope ${scope}.`,
      headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${wanted}", ${metadata}` },
    });
  }

  return {
    insufficientScope,
    checkPlace({ headers }) {
      if (!hosts.has((headers.host ?? '').toLowerCase()))
        throw errors.forbidden({ detail: 'This server does not answer under this Host.' });
      if (headers.origin !== undefined && !origins.has(headers.origin))
        throw errors.forbidden({ detail: 'Requests of this Origin are not answered.' });
    },
    async identify({ headers }) {
      if (headers.authorization === undefined) throw unauthenticated(false);
      const token = bearerToken(headers.authorization);
      const session = token === undefined ? null : await resolveBearer(token);
      if (session === null) throw unauthenticated(true);
      // RFC 8707: a token that was made for another resource is not for us.
      if (session.kind === 'customer' && session.audience !== null && session.audience !== resource)
        throw unauthenticated(true);
      if (!session.scopes.includes('tools:read') && !session.scopes.includes('tools:write'))
        throw insufficientScope('tools:read');
      return session;
    },
  };
}
