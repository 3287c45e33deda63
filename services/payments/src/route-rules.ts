import type { Transaction } from '@libs/db';
import { type App, createRoutes, type Routes } from '@libs/http';
import type { ReplyOnce } from './idempotency/reply.ts';
import type { Gates, RouteAccess, RouteRate } from './keys/access.ts';

/** How routes of this service are declared; `libs/http` explains the decisions. */
export type PaymentsRoutes = Routes<RouteAccess, RouteRate, Transaction>;

export function createPaymentsRoutes(
  app: App,
  { gates, replyOnce }: { gates: Gates; replyOnce: ReplyOnce },
): PaymentsRoutes {
  return createRoutes<RouteAccess, RouteRate, Transaction>(app, {
    ...gates,
    once: replyOnce,
    // What organisations do is told by events; this line is the operator's view of it, in the log of the process.
    audit: (request, call) => request.log.info({ audit: call, key_id: request.caller?.keyId }, 'audit'),
    security: (need) => {
      if (need === 'public') return [];
      return need === 'operator' ? [{ adminToken: [] }] : [{ apiKey: [] }];
    },
  });
}
