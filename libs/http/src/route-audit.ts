import type { FastifyReply, FastifyRequest } from 'fastify';

export type RouteAudit = {
  /** Such as `token.created`; a handler may word it more precisely by `noteAudit`. */
  action: string;
  /** The path parameter that names what the call is about; a handler that makes something new notes its id instead. */
  targetParam?: string;
  /** What the call is about, where the path names it by its own words; known whatever refuses the call. */
  target?: string;
  /** Whether the call is worth a line; all are where nothing is said. */
  onlyIf?: (request: FastifyRequest) => boolean;
};

export type AuditedCall = {
  action: string;
  /** The id of what the call was about. */
  target: string | null;
  /** Whose log the line belongs to, where that is not the caller's. */
  subject: string | null;
  /** The organisations in whose logs the line stands, where those are others than the one the caller came from. */
  organisations: readonly string[];
  outcome: 'success' | 'refused' | 'failure';
  status: number;
};

type Note = Partial<Pick<AuditedCall, 'action' | 'target' | 'subject' | 'organisations' | 'outcome'>>;

const notes = new WeakMap<FastifyRequest, Note>();

/** For handlers: what is known only after the work, such as the id of the new thing. */
export function noteAudit(request: FastifyRequest, note: Note): void {
  notes.set(request, { ...notes.get(request), ...note });
}

/**
 * What is not worth a line: requests that could not be read, and those beyond the rate limit, who could otherwise make
 * us write as often as they like.
 */
const UNRECORDED: ReadonlySet<number> = new Set([400, 405, 408, 413, 414, 415, 429, 431]);

/** The caller may have named anything, also what belongs to somebody else: its words are not a target. */
const UNPROVEN_TARGET: ReadonlySet<number> = new Set([401, 403, 404]);

function targetOf(audit: RouteAudit, request: FastifyRequest, status: number): string | null {
  if (audit.target !== undefined) return audit.target;
  if (audit.targetParam === undefined || UNPROVEN_TARGET.has(status)) return null;
  // Schemas may have made a number of it.
  const target = (request.params as Record<string, unknown> | null)?.[audit.targetParam] ?? null;
  return target === null ? null : String(target);
}

/**
 * Runs when the answer is known and before it leaves, for refusals too. What writes no line waits for nothing, not even a
 * promise: payments that programs make pass here.
 */
export function auditHook(
  audit: RouteAudit,
  record: (request: FastifyRequest, call: AuditedCall) => Promise<void> | void,
) {
  async function write(request: FastifyRequest, status: number): Promise<void> {
    const note = notes.get(request);
    const subject = note?.subject ?? null;
    const target = note?.target ?? targetOf(audit, request, status);
    await record(request, {
      action: note?.action ?? audit.action,
      // Whose log the line stands in need not be said in it.
      target: target === subject ? null : target,
      subject,
      organisations: note?.organisations ?? [],
      // A page that tells a person why something was refused is itself answered well.
      outcome: note?.outcome ?? (status < 400 ? 'success' : status < 500 ? 'refused' : 'failure'),
      status,
    });
  }

  return (
    request: FastifyRequest,
    reply: FastifyReply,
    payload: unknown,
    done: (error: Error | null, payload?: unknown) => void,
  ): void => {
    const status = reply.statusCode;
    if (UNRECORDED.has(status) || audit.onlyIf?.(request) === false) done(null, payload);
    else write(request, status).then(() => done(null, payload), done);
  };
}
