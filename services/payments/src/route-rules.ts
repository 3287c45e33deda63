import type { Transaction } from '@libs/db';
import { type App, type AuditedCall, createRoutes, type Routes } from '@libs/http';
import type { FastifyRequest } from 'fastify';
import { BY_OPERATOR } from './audit/entry.ts';
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
      // What the operator does is no affair of the organisation that the person happens to look at.
      if (isOperators(request))
        return recordAll(audit, [...ofConcerned(request, call), ofCaller(request, call, null)]);
      const from = caller?.tenant.organisationId ?? person?.membership?.organisationId ?? null;
      return recordAll(audit, [ofCaller(request, call, call.organisations[0] ?? from)]);
    },
    security: securityOf,
    codes: refusalsOf,
    parameters: parametersOf,
  });
}

type Line = Parameters<AuditService['record']>[0];

async function recordAll(
  audit: Pick<AuditService, 'record'>,
  lines: readonly (Line | null)[],
): Promise<void> {
  for (const line of lines) if (line !== null) await audit.record(line);
}

/** A stranger has no log, and could fill everybody's; who proved to be a person while it ran is no stranger. */
function ofCaller(
  request: FastifyRequest,
  { action, target, outcome, subject }: AuditedCall,
  organisationId: string | null,
): Line | null {
  const userId = request.person?.userId ?? subject;
  if (userId === null) return null;
  return { organisationId, userId, action, target, outcome, ip: request.ip, requestId: request.id };
}

function isOperators(request: FastifyRequest): boolean {
  const access = request.routeOptions.config.declared?.access;
  return access === 'operator' || access === 'admin_token';
}

/** For the organisations that the operator has done something with. */
function ofConcerned(
  request: FastifyRequest,
  { action, target, outcome, organisations }: AuditedCall,
): Line[] {
  const line = { ...BY_OPERATOR, action, target, outcome, requestId: request.id };
  return organisations.map((organisationId) => ({ ...line, organisationId }));
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
