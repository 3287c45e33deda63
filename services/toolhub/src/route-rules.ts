import {
  type App,
  addressKey,
  createRoutes,
  type RateLimit,
  type RateLimits,
  type RouteRules,
  type Routes,
} from '@libs/http';
import type { FastifyRequest } from 'fastify';
import { type Actor, actorOf } from './audit/entry.ts';
import type { AuditService } from './audit/service.ts';
import type { Config } from './config.ts';
import type { Access, RequestCaller, RouteAccess } from './customers/access.ts';
import { type ErrorCode, refusalsOf } from './reference.ts';

/**
 * `api` is what a customer may call in general, `dear` holds for calls that cost much beside that. `address` is for
 * sign-ups, registrations and logins, `pages` for what a browser opens on its way through OAuth: both per network address.
 */
export type RouteRate = 'api' | 'dear' | 'address' | 'pages' | 'none';

/** How routes of this service are declared; `libs/http` explains the decisions. No route keeps `Idempotency-Key`s. */
export type ToolhubRoutes = Routes<RouteAccess, RouteRate, never, ErrorCode>;

/** The `customerId` of lines that belong to no customer. */
const INTERNAL = 'internal';
const API_BURST_SECONDS = 4;
/** A login leads over several pages, and an office shares one address. */
const PAGES_PER_LOGIN = 20;
const DEAR_PER_SECOND = 1;
const DEAR_BURST = 10;

export interface RouteRulesDependencies {
  config: Pick<Config, 'rate'>;
  rates: RateLimits;
  access: Pick<Access, 'identify' | 'permit' | 'callerOf'>;
  audit: Pick<AuditService, 'record'>;
  /** Sign-ups, registrations and logins per network address. */
  addressLimit: RateLimit;
}

/** Puts routes into the app, or into a scope of it that reads bodies in its own way. */
export type RoutesOn = (scope: App) => ToolhubRoutes;

export function createToolhubRoutes(deps: RouteRulesDependencies): RoutesOn {
  const { access, audit } = deps;
  const { apiPerSecond } = deps.config.rate;
  const api = deps.rates.limit({
    name: 'api',
    limit: apiPerSecond,
    burst: apiPerSecond * API_BURST_SECONDS,
  });
  const dear = deps.rates.limit({
    name: 'dear',
    limit: apiPerSecond === 0 ? 0 : DEAR_PER_SECOND,
    burst: DEAR_BURST,
  });

  /** The operator and its own automation are not limited. */
  function keyOf(request: FastifyRequest): string | undefined {
    const caller = access.callerOf(request);
    if (caller === undefined) return addressKey(request.ip);
    return caller !== 'admin' && caller.kind === 'customer' ? caller.customerId : undefined;
  }

  const { addressPerMinute } = deps.config.rate;
  const pages = deps.rates.limit({
    name: 'pages',
    limit: addressPerMinute * PAGES_PER_LOGIN,
    windowSeconds: 60,
    burst: addressPerMinute * PAGES_PER_LOGIN,
  });

  const rules: RouteRules<RouteAccess, RouteRate, never> = {
    identify: access.identify,
    permit: access.permit,
    rate: (rateClass) => {
      if (rateClass === 'none') return null;
      if (rateClass === 'address' || rateClass === 'pages') {
        const limit = rateClass === 'address' ? deps.addressLimit : pages;
        return limit.isOff ? null : (request, reply) => limit.enforce(addressKey(request.ip), reply);
      }
      return async (request, reply) => {
        const key = keyOf(request);
        if (key === undefined) return;
        await api.enforce(key, reply);
        if (rateClass === 'dear') await dear.enforce(key, reply);
      };
    },
    async audit(request, { action, target, subject, outcome }) {
      const caller = access.callerOf(request);
      // A stranger has no log, and could fill everybody's; who proved to be a customer while it ran is no stranger.
      if (caller === undefined && subject === null) return;
      const own =
        caller !== undefined && caller !== 'admin' && caller.kind === 'customer'
          ? caller.customerId
          : INTERNAL;
      const actor = actorBehind(caller, subject);
      const line = { customerId: subject ?? own, actor, action, target, outcome };
      const recorded = audit.record([{ ...line, ip: request.ip, requestId: request.id }]);
      // A stranger must not learn from the time of a refusal whether there is an account to write it down for.
      if (caller !== undefined || outcome === 'success') await recorded;
    },
    once() {
      throw new Error('no route of this service keeps idempotency keys');
    },
    security: (need) => securityOf[need],
    codes: refusalsOf,
  };
  return (scope) => createRoutes<RouteAccess, RouteRate>(scope, rules);
}

const securityOf: Record<RouteAccess, Record<string, string[]>[]> = {
  public: [],
  visitor: [],
  own_site: [],
  anyone: [{ bearer: [] }, {}],
  'account:read': [{ bearer: [] }],
  'account:write': [{ bearer: [] }],
  person: [{ cookie: [] }],
  admin: [{ bearer: [] }],
};

function actorBehind(caller: RequestCaller | undefined, subject: string | null): Actor {
  if (caller === undefined) return { type: 'customer', id: subject ?? INTERNAL };
  return caller === 'admin' ? { type: 'admin', id: 'admin' } : actorOf(caller);
}
