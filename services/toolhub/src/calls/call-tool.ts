import { hash } from 'node:crypto';
import type { RateLimit } from '@libs/http';
import type { Approvals, Passage } from '../approvals/service.ts';
import { actorOf, type Outcome } from '../audit/entry.ts';
import type { AuditService } from '../audit/service.ts';
import type { Meter } from '../billing/meter/meter.ts';
import type { Reservation } from '../billing/meter/settlement.ts';
import type { Scope } from '../customers/identity.ts';
import type { ToolLists } from '../tools/lists.ts';
import {
  type AccountTool,
  type CatalogueTool,
  isReadOnly,
  type PlatformTool,
  takesIdempotencyKey,
} from '../tools/tool.ts';
import { type CallRequest, principalOf } from './call.ts';
import type { CallMetrics, Gate } from './call-metrics.ts';
import { CALL_TIMEOUT_MS } from './call-times.ts';
import { withDeadline } from './deadline.ts';
import {
  APPROVAL_DENIED,
  approvalRequired,
  CANCELED,
  FIRST_DID_NOTHING,
  KEY_TAKEN,
  notThatCall,
  OUTCOME_UNKNOWN,
  overLimit,
  TOO_MANY_WAIT,
  tooFast,
} from './failures.ts';
import type { ClaimedKey, Idempotency } from './idempotency.ts';
import { keyedResult } from './keyed-result.ts';
import { createPlatformCalls, type PlatformCallsDependencies } from './platform-call.ts';
import { type Failure, failureResult, invalidArguments, successResult, type ToolResult } from './result.ts';
import { STILL_RUNNING } from './still-running.ts';

/*
 * The ladder of one tool call. A call that is stopped on one rung goes no further, and none reaches a platform.
 *
 *   token → customer        access.ts, before the body is read        401, 403 (audience, no tools scope)
 *   rate limit              admitCall                                 result rate_limited
 *   scope and permission    admitCall                                 403 insufficient_scope, -32602 (not in the list)
 *   arguments validated     runCall                                   result invalid_arguments
 *   approval                runCall, where a rule asks for it         result approval_required, approval_denied
 *   idempotency_key         runCall                                   the first result, or why there is none
 *   checkLimit              runCall                                   result limit_exceeded
 *   credential              platform-call.ts: expiry, refresh         result not_connected, token_expired
 *   connector               platform-call.ts                          result platform_error, platform_unavailable, …
 *   usage recorded, audit   runMetered, runCall                       unit kept, or given back if certainly nothing was done
 *   result
 */

export type Admission =
  | { kind: 'admitted'; tool: CatalogueTool }
  | { kind: 'refused'; result: ToolResult }
  | { kind: 'unknown_tool' }
  | { kind: 'insufficient_scope'; scope: Scope };

export interface CallToolDependencies extends Omit<PlatformCallsDependencies, 'timeoutMs'> {
  lists: Pick<ToolLists, 'checkFor'>;
  findTool(name: string): CatalogueTool | undefined;
  /** Calls per customer. */
  callRate: Pick<RateLimit, 'take'>;
  meter: Pick<Meter, 'checkLimit' | 'settle' | 'giveBack'>;
  approvals: Pick<Approvals, 'pass'>;
  idempotency: Pick<Idempotency, 'claim'>;
  audit: Pick<AuditService, 'record'>;
  metrics: CallMetrics;
  /** Tells of a call that failed at its platform, as an event. Never rejects. */
  tellFailure(call: { customerId: string; tool: string; platform: string; failure: Failure }): Promise<void>;
  timeoutMs?: number;
}

export interface CallTool {
  admitCall(request: CallRequest): Promise<Admission>;
  runCall(request: CallRequest, tool: CatalogueTool): Promise<ToolResult>;
}

type Verdict = { outcome: Outcome; result: ToolResult };

export function createCallTool(deps: CallToolDependencies): CallTool {
  const { meter, audit, links, timeoutMs = CALL_TIMEOUT_MS } = deps;
  const platforms = createPlatformCalls({ ...deps, timeoutMs });

  async function admitCall(request: CallRequest): Promise<Admission> {
    const { session, name, list } = request;
    const tool = deps.findTool(name);
    // Strangers choose such names: neither the log nor the rate is for them.
    if (tool === undefined) return { kind: 'unknown_tool' };
    if (session.kind === 'customer') {
      const verdict = await deps.callRate.take(session.customerId);
      if (!verdict.allowed) {
        await noteRefused(request, 'rate');
        return { kind: 'refused', result: failureResult(tooFast(verdict.retryAfterSeconds)) };
      }
    }
    if (!list.has(name)) {
      await noteRefused(request, 'scope');
      return { kind: 'unknown_tool' };
    }
    const scope = missingScope(session.scopes, tool);
    if (scope !== undefined) {
      await noteRefused(request, 'scope');
      return { kind: 'insufficient_scope', scope };
    }
    return { kind: 'admitted', tool };
  }

  function noteRefused(request: CallRequest, gate: Gate): Promise<void> {
    deps.metrics.refused(gate);
    return record(request, 'refused');
  }

  async function runCall(request: CallRequest, tool: CatalogueTool): Promise<ToolResult> {
    const startedMs = performance.now();
    const checked = checkArguments(request, tool);
    if (checked.kind === 'invalid') deps.metrics.refused('arguments');
    const verdict =
      checked.kind === 'invalid'
        ? refused(invalidArguments(checked.faults))
        : await runOnce({ ...request, args: checked.values }, tool);
    deps.metrics.count(tool.platform, verdict.outcome, performance.now() - startedMs);
    await record(request, verdict.outcome);
    return verdict.result;
  }

  function checkArguments(request: CallRequest, tool: CatalogueTool) {
    if (request.badText.length > 0) return { kind: 'invalid' as const, faults: [...request.badText] };
    return deps.lists.checkFor(request.session.kind, tool)(request.args);
  }

  /** With an idempotency_key, only the first of all calls with it goes on. */
  async function runOnce(request: CallRequest, tool: CatalogueTool): Promise<Verdict> {
    if (!takesIdempotencyKey(tool.class)) return runGated(request, tool, null);
    const { idempotency_key: given, approval_id: approvalId, ...args } = request.args;
    const call = { ...request, args };
    const passing = deps.approvals.pass({
      ...{ session: request.session, tool, args, key: asText(given), approvalId: asText(approvalId) },
    });
    const passage = passing instanceof Promise ? await passing : passing;
    if (passage.kind !== 'free' && passage.kind !== 'repeats') return stopped(call, passage);
    const { key } = passage;
    if (key === null) return runGated(call, tool, null);
    const principal = principalOf(request.session);
    const claim = await deps.idempotency.claim({
      customerId: principal,
      tool: tool.name,
      key,
      args,
      mayRun: passage.kind === 'free',
      signal: request.signal,
    });
    switch (claim.kind) {
      case 'claimed': {
        // The key of a day ago stands for another call, which a platform that never forgets would take for this one.
        const words = [principal, tool.name, key, claim.expiresAt.toISOString()];
        const vendorKey = hash('sha256', JSON.stringify(words));
        return runGated({ ...call, vendorKey }, tool, claim);
      }
      case 'replay': {
        const result = JSON.parse(claim.resultJson) as ToolResult;
        return { outcome: result.isError === true ? 'failure' : 'success', result };
      }
      case 'other_arguments':
        return refused(invalidArguments([KEY_TAKEN]));
      case 'unknown':
        return refused({ code: 'platform_unavailable', message: OUTCOME_UNKNOWN });
      case 'running':
        return refused({ code: 'platform_unavailable', message: STILL_RUNNING });
      case 'freed':
        return refused({ code: 'platform_unavailable', message: FIRST_DID_NOTHING });
      case 'canceled':
        return refused(CANCELED);
    }
  }

  async function stopped(
    request: CallRequest,
    passage: Exclude<Passage, { kind: 'free' | 'repeats' }>,
  ): Promise<Verdict> {
    deps.metrics.refused('approval');
    switch (passage.kind) {
      case 'waits': {
        const { id, expiresAt } = passage.approval;
        if (passage.isNew) await record(request, 'success', { action: 'approval.requested', target: id });
        return refused(approvalRequired({ id, url: links.approval(id), expiresAt }));
      }
      case 'denied':
        return refused(APPROVAL_DENIED);
      case 'other_call':
        return refused(invalidArguments([notThatCall(passage.pointer)]));
      case 'too_many_wait':
        return refused(TOO_MANY_WAIT);
    }
  }

  async function runGated(
    request: CallRequest,
    tool: CatalogueTool,
    key: ClaimedKey | null,
  ): Promise<Verdict> {
    const { session } = request;
    if (tool.platform === null) return runUnmetered(request, tool);
    let reservation: Reservation | null = null;
    if (session.kind === 'customer') {
      try {
        const check = await meter.checkLimit(session.customerId);
        if (check.kind === 'limit_exceeded') {
          deps.metrics.refused('limit');
          await key?.release();
          const { limit, used, resetsAt } = check;
          return refused(overLimit({ limit, used, resetsAt, upgradeUrl: links.upgrade }));
        }
        reservation = check.reservation;
      } catch (error) {
        await key?.release();
        throw error;
      }
    }
    return runMetered(request, { tool, reservation, key });
  }

  async function runUnmetered(request: CallRequest, tool: AccountTool): Promise<Verdict> {
    const { session, args, list } = request;
    try {
      const content = await withDeadline(request.signal, timeoutMs, (signal) =>
        tool.run(args, { session, list, signal }),
      );
      return { outcome: 'success', result: successResult(content, tool.untrusted) };
    } catch (error) {
      return { outcome: 'failure', result: failureResult(platforms.explain(error, request, tool)) };
    }
  }

  async function runMetered(
    request: CallRequest,
    run: { tool: PlatformTool; reservation: Reservation | null; key: ClaimedKey | null },
  ): Promise<Verdict> {
    const { tool, reservation, key } = run;
    const { platform } = tool;
    const startedMs = performance.now();
    const { ran, isOpen } = await platforms.reach(request, tool);
    const failure = ran.kind === 'failed' ? ran.failure : null;
    const result =
      ran.kind === 'failed' ? failureResult(ran.failure) : successResult(ran.content, tool.untrusted);
    const customerId = request.session.kind === 'customer' ? request.session.customerId : 'internal';
    const succeeded = failure === null;
    await Promise.all([
      meter.settle({
        ...{ customerId, reservation, platform, tool: tool.name, succeeded },
        unit: succeeded || isOpen ? 'kept' : 'given_back',
        durationMs: performance.now() - startedMs,
        alongside: key?.ending(keyedResult(failure, { result, isOpen })),
      }),
      failure !== null && request.session.kind === 'customer' && !ownDoing.has(failure.code)
        ? deps.tellFailure({ customerId, tool: tool.name, platform, failure })
        : undefined,
    ]);
    return { outcome: succeeded ? 'success' : 'failure', result };
  }

  function record(
    request: CallRequest,
    outcome: Outcome,
    { action, target } = { action: 'tool.call', target: request.name },
  ): Promise<void> {
    const { session, ip, requestId } = request;
    const customerId = session.kind === 'customer' ? session.customerId : 'internal';
    return audit.record([{ customerId, actor: actorOf(session), action, target, outcome, ip, requestId }]);
  }

  return { admitCall, runCall };
}

function asText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function refused(failure: Failure): Verdict {
  return { outcome: 'refused', result: failureResult(failure) };
}

function missingScope(scopes: readonly Scope[], tool: CatalogueTool): Scope | undefined {
  if (scopes.includes('tools:write')) return undefined;
  if (!isReadOnly(tool.class)) return 'tools:write';
  return scopes.includes('tools:read') ? undefined : 'tools:read';
}

/** Failures that the caller caused and knows of: nobody has to be told by an event. */
const ownDoing: ReadonlySet<Failure['code']> = new Set(['invalid_arguments', 'canceled']);
