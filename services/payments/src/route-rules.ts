import type { Transaction } from '@libs/db';
import { type App, createRoutes, type Routes } from '@libs/http';
import type { AuditService } from './audit/service.ts';
import type { ReplyOnce } from './idempotency/reply.ts';
import type { Gates, RouteAccess, RouteRate } from './keys/access.ts';
import { type ErrorCode, parametersOf, refusalsOf } from './reference.ts';

/** How routes of this service are declared; `libs/http` explains the decisions. */
export type PaymentsRoutes = Routes<RouteAccess, RouteRate, Transaction, ErrorCode>;

export interface RouteRulesDependencies {
  gates: Gates;
  replyOnce: ReplyOnce;
  audit: Pick<AuditService, 'record'>;
}

export function createPaymentsRoutes(
  app: App,
  { gates, replyOnce, audit }: RouteRulesDependencies,
): PaymentsRoutes {
  return createRoutes<RouteAccess, RouteRate, Transaction>(app, {
    ...gates,
    once: replyOnce,
    refusesUnreadFields: true,
    audit(request, call) {
      const { caller, person } = request;
      // What programs do is told by events; this line is the operator's view of it, in the log of the process.
      request.log.info({ audit: call, key_id: caller?.keyId, user_id: person?.userId }, 'audit');
      const userId = person?.userId ?? call.subject;
      // A stranger has no log, and could fill everybody's; who proved to be a person while it ran is no stranger.
      if (userId === null) return;
      const { action, target, outcome } = call;
      const from = caller?.tenant.organisationId ?? person?.membership?.organisationId ?? null;
      const organisationId = call.organisation ?? from;
      const where = { ip: request.ip, requestId: request.id };
      return audit.record({ organisationId, userId, action, target, outcome, ...where });
    },
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
