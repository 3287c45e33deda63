import { type App, createRoutes, type RateLimits, type Routes } from '@libs/http';
import type { FastifyRequest } from 'fastify';
import { type Actor, actorOf } from './audit/entry.ts';
import type { AuditService } from './audit/service.ts';
import type { Config } from './config.ts';
import type { Access, RouteAccess } from './customers/access.ts';
import { addressKey } from './customers/address-key.ts';

/** `api` is what a customer may call in general, `dear` holds for calls that cost much beside that. */
export type RouteRate = 'api' | 'dear' | 'none';

/** How routes of this service are declared; `libs/http` explains the decisions. No route keeps `Idempotency-Key`s. */
export type ToolhubRoutes = Routes<RouteAccess, RouteRate>;

/** The `customerId` of lines that belong to no customer. */
const INTERNAL = 'internal';
const API_BURST_SECONDS = 4;
const DEAR_PER_SECOND = 1;
const DEAR_BURST = 10;

export interface RouteRulesDependencies {
  config: Pick<Config, 'rate'>;
  rates: RateLimits;
  access: Access;
  audit: Pick<AuditService, 'record'>;
}

export function createToolhubRoutes(app: App, deps: RouteRulesDependencies): ToolhubRoutes {
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

  return createRoutes<RouteAccess, RouteRate>(app, {
    identify: access.identify,
    permit: access.permit,
    rate: (rateClass) => {
      if (rateClass === 'none') return null;
      return async (request, reply) => {
        const key = keyOf(request);
        if (key === undefined) return;
        await api.enforce(key, reply);
        if (rateClass === 'dear') await dear.enforce(key, reply);
      };
    },
    async audit(request, { action, target, subject, outcome }) {
      const caller = access.callerOf(request);
      // A stranger has no log, and could fill everybody's.
      if (caller === undefined) return;
      const actor: Actor = caller === 'admin' ? { type: 'admin', id: 'admin' } : actorOf(caller);
      const own = caller !== 'admin' && caller.kind === 'customer' ? caller.customerId : INTERNAL;
      const line = { customerId: subject ?? own, actor, action, target, outcome };
      await audit.record([{ ...line, ip: request.ip, requestId: request.id }]);
    },
    once() {
      throw new Error('no route of this service keeps idempotency keys');
    },
    security: (need) => (need === 'public' ? [] : [{ bearer: [] }]),
  });
}
