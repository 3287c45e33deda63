import type { Transaction } from '@libs/db';
import { type App, createRoutes, type Routes } from '@libs/http';
import type { ReplyOnce } from './idempotency/reply.ts';
import type { Gates, RouteAccess, RouteRate } from './keys/access.ts';
import { type ErrorCode, parametersOf, refusalsOf } from './reference.ts';

/** How routes of this service are declared; `libs/http` explains the decisions. */
export type PaymentsRoutes = Routes<RouteAccess, RouteRate, Transaction, ErrorCode>;

export function createPaymentsRoutes(
  app: App,
  { gates, replyOnce }: { gates: Gates; replyOnce: ReplyOnce },
): PaymentsRoutes {
  return createRoutes<RouteAccess, RouteRate, Transaction>(app, {
    ...gates,
    once: replyOnce,
    // What organisations do is told by events; this line is the operator's view of it, in the log of the process.
    audit: (request, call) =>
      request.log.info(
        { audit: call, key_id: request.caller?.keyId, user_id: request.person?.userId },
        'audit',
      ),
    security: securityOf,
    codes: refusalsOf,
    parameters: parametersOf,
  });
}

/** Who may call, as the reference shows it. What takes the session alone is no method of an SDK. */
function securityOf(need: RouteAccess): Record<string, string[]>[] {
  switch (need) {
    case 'public':
    case 'visitor':
      return [];
    case 'admin_token':
      return [{ adminToken: [] }];
    case 'operator':
      return [{ adminToken: [] }, { session: [] }];
    case 'person':
    case 'owner':
    case 'developer':
    case 'viewer':
      return [{ session: [] }];
    default:
      return [{ apiKey: [] }, { session: [] }];
  }
}
