import type { RateLimit, RouteRules } from '@libs/http';
import { equalSecrets } from '@libs/seal';
import type { FastifyRequest } from 'fastify';
import { errors } from '../errors.ts';
import type { ByMode } from '../tenant.ts';
import type { Caller, Scope } from './key.ts';
import type { KeyService } from './service.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sent the request; set on every route but the public ones and the operator's. */
    caller: Caller;
  }
}

interface Needs {
  readonly scope: Scope;
  readonly sandboxOnly: boolean;
}

export interface GatesDependencies {
  keys: Pick<KeyService, 'authenticate'>;
  rates: ByMode<Pick<RateLimit, 'enforce'>>;
  adminToken: string;
}

function checkNeeds(caller: Caller, { scope, sandboxOnly }: Needs): void {
  if (sandboxOnly && caller.tenant.mode === 'live') throw errors.wrong_mode();
  if (!caller.scopes.has(scope)) {
    throw errors.insufficient_scope({
      detail: `This key lacks the scope ${scope}.`,
      extra: { required_scope: scope },
    });
  }
}

/** Who may call a route: keys with the scope, those of them that are for test mode, the operator, or everybody. */
export type RouteAccess = Scope | `test:${Scope}` | 'operator' | 'public';
/** `key` is the limit of the caller's key in its mode. */
export type RouteRate = 'key' | 'none';
export type Gates = Pick<RouteRules<RouteAccess, RouteRate, never>, 'identify' | 'rate' | 'permit'>;

/**
 * What declared routes ask of a caller, before the body is read: a stranger's body costs nothing. A known key is let in
 * without a promise, so that the hot path pays a map look-up and no turn of the event loop.
 */
export function createGates({ keys, rates, adminToken }: GatesDependencies): Gates {
  function remember(request: FastifyRequest, caller: Caller | undefined): void {
    if (caller === undefined) throw unauthorized();
    request.caller = caller;
  }

  return {
    identify(need) {
      if (need === 'public') return null;
      return (request) => {
        const token = bearerToken(request.headers.authorization);
        if (token === undefined) throw unauthorized();
        if (need === 'operator') return undefined;
        const caller = keys.authenticate(token);
        if (caller instanceof Promise) return caller.then((found) => remember(request, found));
        return remember(request, caller);
      };
    },

    rate: (rateClass) =>
      rateClass === 'none'
        ? null
        : ({ caller }, reply) => rates[caller.tenant.mode].enforce(caller.keyId, reply),

    permit(need) {
      if (need === 'public') return null;
      if (need === 'operator') {
        return ({ headers }) => {
          if (!equalSecrets(bearerToken(headers.authorization) ?? '', adminToken)) throw errors.forbidden();
        };
      }
      const sandboxOnly = need.startsWith('test:');
      const scope = (sandboxOnly ? need.slice('test:'.length) : need) as Scope;
      return ({ caller }) => checkNeeds(caller, { scope, sandboxOnly });
    },
  };
}

export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (header.startsWith('Bearer ')) return header.slice(7).trim() || undefined;
  return /^bearer +([!-~]+) *$/i.exec(header)?.[1];
}

export function unauthorized(): Error {
  return errors.unauthorized({ headers: { 'www-authenticate': 'Bearer realm="payments"' } });
}
