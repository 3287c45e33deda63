import type { RateLimit, RouteRules } from '@libs/http';
import { equalSecrets } from '@libs/seal';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { errors } from '../errors.ts';
import type { Caller, Scope } from './key.ts';
import type { KeyService } from './service.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sent the request; set on every route that has `access(…)`. */
    caller: Caller;
  }
}

/** Route options that let in callers with the scope: `app.get(path, { ...access('payments:read'), schema }, …)`. */
export type Access = (
  scope: Scope,
  options?: { sandboxOnly?: boolean },
) => { onRequest: onRequestHookHandler };

interface Needs {
  readonly scope: Scope;
  readonly sandboxOnly: boolean;
}

export interface AccessDependencies {
  keys: KeyService;
  rates: { live: RateLimit; test: RateLimit };
}

/**
 * Runs before the body is read: a stranger's body costs nothing. A known key is let in without a promise, so that the
 * hot path pays a map look-up and no turn of the event loop.
 */
export function createAccess({ keys, rates }: AccessDependencies): Access {
  function admit(
    request: FastifyRequest,
    reply: FastifyReply,
    caller: Caller | undefined,
    needs: Needs,
  ): void | Promise<void> {
    if (caller === undefined) throw unauthorized();
    request.caller = caller;
    const limited = rates[caller.tenant.mode].enforce(caller.keyId, reply);
    if (limited instanceof Promise) return limited.then(() => checkNeeds(caller, needs));
    return checkNeeds(caller, needs);
  }

  return (scope, { sandboxOnly = false } = {}) => {
    const needs = { scope, sandboxOnly };
    return {
      onRequest(request, reply, done) {
        try {
          const token = bearerToken(request.headers.authorization);
          if (token === undefined) throw unauthorized();
          const caller = keys.authenticate(token);
          const admitted =
            caller instanceof Promise
              ? caller.then((found) => admit(request, reply, found, needs))
              : admit(request, reply, caller, needs);
          if (admitted === undefined) done();
          else admitted.then(() => done(), done);
        } catch (error) {
          done(error as Error);
        }
      },
    };
  };
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
export function createGates({ keys, rates, adminToken }: AccessDependencies & { adminToken: string }): Gates {
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

/** Route options that let in the operator alone. */
export interface AdminAccess {
  onRequest: onRequestHookHandler;
}

export function createAdminAccess(adminToken: string): AdminAccess {
  return {
    onRequest(request, _reply, done) {
      const token = bearerToken(request.headers.authorization);
      if (token === undefined) done(unauthorized());
      else if (equalSecrets(token, adminToken)) done();
      else done(errors.forbidden());
    },
  };
}

function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (header.startsWith('Bearer ')) return header.slice(7).trim() || undefined;
  return /^bearer +([!-~]+) *$/i.exec(header)?.[1];
}

function unauthorized(): Error {
  return errors.unauthorized({ headers: { 'www-authenticate': 'Bearer realm="payments"' } });
}
