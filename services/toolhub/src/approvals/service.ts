import type { Database } from '@libs/db';
import { everyMinutes, type Handler } from '@libs/jobs';
import { baseErrors } from '@libs/runtime';
import type { NewId } from '@libs/seal';
import type { AuditService } from '../audit/service.ts';
import { type ArgumentsMark, type ArgumentsMarks, isMarkOf } from '../calls/arguments-mark.ts';
import type { InternalSession, Session } from '../customers/identity.ts';
import { errors } from '../errors.ts';
import type { CatalogueTool, PlatformTool } from '../tools/tool.ts';
import {
  type Approval,
  type ApprovalRules,
  type ApprovalStatus,
  type CallingClient,
  isAskedFor,
  keyOfApproval,
  type ListedApproval,
  NO_RULES,
  rememberedKey,
  statusOf,
} from './approval.ts';
import type { ArgumentsVault } from './arguments.ts';
import { createForgetting } from './forgetting.ts';
import type { ApprovalMails } from './mails.ts';
import type { RuleBook } from './rules.ts';
import {
  countPending,
  findApproval,
  findByKey,
  findSamePending,
  insertApproval,
  listApprovals,
  lockApproval,
  lockRules,
  noteRun,
  takeAllowance,
  writeDecision,
} from './store.ts';

export interface ApprovalsDependencies {
  database: Database;
  ruleBook: RuleBook;
  /** From the memory in which the customer's switches are, too. */
  rulesOf(customerId: string): ApprovalRules | Promise<ApprovalRules>;
  clientOf(session: Session): Promise<CallingClient>;
  vault: ArgumentsVault;
  mails: Pick<ApprovalMails, 'plan'>;
  audit: Pick<AuditService, 'recordIn'>;
  /** What tells two calls apart, in whatever order their arguments are named. */
  marks: ArgumentsMarks;
  /** Whether a call has begun under the key that stands for it still. */
  hasBegun(call: { customerId: string; tool: string; key: string }): Promise<boolean>;
  newId: NewId;
  now: () => Date;
}

/** A call that may have to wait for a person. */
export interface AskingCall {
  session: Session | InternalSession;
  tool: CatalogueTool;
  /** Without the two below. */
  args: Record<string, unknown>;
  key: string | null;
  approvalId: string | null;
}

export type Passage =
  /** It may run; `key` is what makes it run once. */
  | { kind: 'free'; key: string | null }
  /** It gets what came of the call that began under its key, and never runs: nobody has to be asked. */
  | { kind: 'repeats'; key: string }
  /** `isNew`: nobody was asked before. */
  | { kind: 'waits'; approval: Approval; isNew: boolean }
  | { kind: 'denied' }
  /** What was allowed is another call, or nothing is known of it. */
  | { kind: 'other_call'; pointer: '/approval_id' | '/idempotency_key' }
  | { kind: 'too_many_wait' };

export interface Approvals {
  /** Not a promise for tools and customers that nobody wants to be asked about. */
  pass(call: AskingCall): Passage | Promise<Passage>;
  list(page: {
    customerId: string;
    status: ApprovalStatus | undefined;
    before: string | undefined;
    limit: number;
  }): Promise<ListedApproval[]>;
  find(key: { customerId: string; id: string }): Promise<Approval>;
  allow(key: { customerId: string; id: string }, remember: 'once' | 'client'): Promise<Approval>;
  deny(key: { customerId: string; id: string }): Promise<Approval>;
  readonly handlers: readonly Handler[];
  readonly cron: readonly { name: string; schedule: (after: Date) => Date }[];
}

const WAIT_MS = 24 * 60 * 60 * 1_000;
const PENDING_MAX = 100;
const PENDING_BYTES_MAX = 64 * 1024 * 1024;
/** As long as the result of what ran under an approval is kept, from the decision on. */
const KEEP_MS = WAIT_MS;
const FORGET_MINUTES = 10;
const FORGET_JOB = 'approvals.forget';

export function createApprovals(deps: ApprovalsDependencies): Approvals {
  const { database, vault, now } = deps;
  const forget = createForgetting({ ...deps, keepMs: KEEP_MS });

  function pass(call: AskingCall): Passage | Promise<Passage> {
    const { session, tool, key, approvalId } = call;
    const free: Passage = { kind: 'free', key: key ?? (approvalId && keyOfApproval(approvalId)) };
    // Whoever is logged in decides by calling. Internal sessions are the operator's own.
    if (session.kind === 'internal' || session.via === 'cookie' || tool.platform === null) return free;
    const rules = deps.rulesOf(session.customerId);
    const asking = { ...call, session, tool };
    if (rules instanceof Promise) return rules.then((loaded) => passUnder(loaded, asking, free));
    return passUnder(rules, asking, free);
  }

  function passUnder(rules: ApprovalRules, call: Asking, free: Passage): Passage | Promise<Passage> {
    if (isAskedFor(rules, call.tool)) return passAsked(rules, call, free);
    // Who never set rules has nothing that waits.
    return rules === NO_RULES ? free : passUnasked(call, free);
  }

  async function passAsked(rules: ApprovalRules, call: Asking, free: Passage): Promise<Passage> {
    const client = await deps.clientOf(call.session);
    if (rules.remembered.has(rememberedKey(client.id, call.tool.name))) return passUnasked(call, free);
    const asked = await markOf(call, client);
    const found = await findAnswered(asked);
    if (found === undefined) {
      if (call.approvalId !== null) return { kind: 'other_call', pointer: '/approval_id' };
      return (await findRepeat(asked, call.key)) ?? ask(asked);
    }
    return isSameCall(found, asked) ? follow(found, asked) : otherCall(call);
  }

  async function markOf(call: Asking, client: CallingClient): Promise<Asked> {
    const { customerId } = call.session;
    const mark = await deps.marks.of(call.args, ['approval', customerId, client.id, call.tool.name]);
    return { ...call, customerId, client, mark };
  }

  /**
   * Nobody is asked about it any more. One that waited, or was allowed, is noted as run: otherwise a person would go on reading that
   * nothing of it was sent. What a person refused stays refused.
   */
  async function passUnasked(call: Asking, free: Passage): Promise<Passage> {
    if (call.approvalId === null && call.key === null) return free;
    const found = await findAnswered({ ...call, customerId: call.session.customerId });
    if (found === undefined) return free;
    const asked = await markOf(call, await deps.clientOf(call.session));
    if (!isSameCall(found, asked)) return free;
    const key = asked.key ?? keyOfApproval(found.id);
    const { customerId, id } = found;
    const isRun = await noteRun(database, { customerId, id, key, now: now() });
    const status = isRun ? 'used' : (await findApproval(database, { customerId, id }))?.status;
    return status === 'denied' ? ((await findRepeat(asked, key)) ?? { kind: 'denied' }) : free;
  }

  async function findAnswered(call: Asking & { customerId: string }): Promise<Approval | undefined> {
    const { customerId, tool, key, approvalId } = call;
    if (approvalId !== null) return findApproval(database, { customerId, id: approvalId });
    if (key === null) return undefined;
    const found = await findByKey(database, { customerId, tool: tool.name, key });
    // A key stands for one call for 24 hours, and then for another.
    return found && (isForgotten(found) || statusOf(found, now()) === 'expired') ? undefined : found;
  }

  async function findRepeat({ customerId, tool }: Asked, key: string | null): Promise<Passage | undefined> {
    if (key === null || !(await deps.hasBegun({ customerId, tool: tool.name, key }))) return undefined;
    return { kind: 'repeats', key };
  }

  /** What the person said, if anything. */
  async function follow(approval: Approval, asked: Asked): Promise<Passage> {
    const runKey = asked.key ?? keyOfApproval(approval.id);
    switch (statusOf(approval, now())) {
      case 'pending':
        return (await findRepeat(asked, runKey)) ?? { kind: 'waits', approval, isNew: false };
      case 'denied':
        return (await findRepeat(asked, runKey)) ?? { kind: 'denied' };
      case 'expired':
        return (await findRepeat(asked, runKey)) ?? ask(asked);
      case 'used':
        // One that ran while nobody was asked has no person's word for another run.
        if (isForgotten(approval) || approval.decidedAt === null)
          return (await findRepeat(asked, runKey)) ?? ask(asked);
        // The same call again, which gets the result of the first; or one that would be a second.
        return approval.usedKey === runKey ? { kind: 'free', key: runKey } : otherCall(asked);
      case 'allowed': {
        const { customerId, id } = approval;
        if (await takeAllowance(database, { customerId, id, key: runKey, now: now() }))
          return { kind: 'free', key: runKey };
        const current = await findApproval(database, { customerId, id });
        return current?.usedKey === runKey ? { kind: 'free', key: runKey } : otherCall(asked);
      }
    }
  }

  /** Whether the result of the run may be gone: the same call would then run again, which nobody has allowed. */
  function isForgotten({ decidedAt, createdAt }: Approval): boolean {
    return (decidedAt ?? createdAt).getTime() + KEEP_MS <= now().getTime();
  }

  /** Notes the call, so that a person can look at it; the same one that waits already is not noted again. */
  async function ask(asked: Asked): Promise<Passage> {
    const { customerId, client, tool, mark, key } = asked;
    const at = now();
    const same = {
      customerId,
      tool: tool.name,
      client: client.id,
      argumentsHashes: mark.known,
      key,
      now: at,
    };
    // Nothing is sealed for one that comes again and again while it waits.
    const known = await findSamePending(database, same);
    if (known !== undefined) return { kind: 'waits', approval: known, isNew: false };
    // Nor for one that nobody is going to be asked about.
    if (isFull(await countPending(database, { customerId, now: at }))) return { kind: 'too_many_wait' };
    const id = deps.newId('apr');
    const sealedArguments = await vault.seal({ customerId, id }, asked.args, tool.wire.inputSchema);
    return database.transaction(async (tx): Promise<Passage> => {
      // Rules go with the account alone, or as its address is taken back: nobody is left to be asked for this client.
      if (!(await lockRules(tx, customerId))) return { kind: 'denied' };
      const noted = await findSamePending(tx, same);
      if (noted !== undefined) return { kind: 'waits', approval: noted, isNew: false };
      const waiting = await countPending(tx, { customerId, now: at });
      if (isFull(waiting, sealedArguments.length)) return { kind: 'too_many_wait' };
      const approval: Approval = {
        ...{ customerId, id, client, argumentsHash: mark.kept, key },
        ...{ tool: tool.name, platform: tool.platform, status: 'pending', usedKey: null },
        ...{ createdAt: at, expiresAt: new Date(at.getTime() + WAIT_MS), decidedAt: null },
      };
      await insertApproval(tx, { ...approval, sealedArguments });
      await deps.mails.plan(tx, customerId, at);
      return { kind: 'waits', approval, isNew: true };
    });
  }

  async function decide(
    key: { customerId: string; id: string },
    decision: { status: 'allowed' | 'denied'; remember: boolean },
  ): Promise<Approval> {
    const decided = await database.transaction(async (tx) => {
      const approval = await lockApproval(tx, key);
      if (approval === undefined) throw notFound();
      const status = statusOf(approval, now());
      if (status !== 'pending' && status !== decision.status)
        throw errors.approval_not_pending({ detail: `This call is ${status}, and waits for nobody.` });
      if (decision.remember) {
        const { client, tool, customerId } = approval;
        await deps.ruleBook.rememberIn(tx, { customerId, client: client.id, tool });
      }
      if (status !== 'pending') return approval;
      const at = now();
      await writeDecision(tx, { ...key, status: decision.status, at });
      return { ...approval, status: decision.status, decidedAt: at };
    });
    if (decision.remember) deps.ruleBook.changed(key.customerId);
    return decided;
  }

  return {
    pass,
    list: (page) => listApprovals(database, { ...page, now: now() }),
    async find(key) {
      const approval = await findApproval(database, key);
      if (approval === undefined) throw notFound();
      return approval;
    },
    allow: (key, remember) => decide(key, { status: 'allowed', remember: remember === 'client' }),
    deny: (key) => decide(key, { status: 'denied', remember: false }),
    handlers: [{ name: FORGET_JOB, handle: forget }],
    cron: [{ name: FORGET_JOB, schedule: everyMinutes(FORGET_MINUTES) }],
  };
}

type Asking = AskingCall & { session: Session; tool: PlatformTool };
type Asked = Asking & { customerId: string; client: CallingClient; mark: ArgumentsMark };

function isSameCall({ tool, client, argumentsHash }: Approval, asked: Asked): boolean {
  return tool === asked.tool.name && client.id === asked.client.id && isMarkOf(asked.mark, argumentsHash);
}

function otherCall({ approvalId }: Asking): Passage {
  return { kind: 'other_call', pointer: approvalId === null ? '/idempotency_key' : '/approval_id' };
}

/** Whether there is no room for another call that waits. */
function isFull({ count, bytes }: { count: number; bytes: number }, newBytes = 1): boolean {
  return count >= PENDING_MAX || bytes + newBytes > PENDING_BYTES_MAX;
}

function notFound() {
  return baseErrors.not_found({ detail: 'There is no waiting call with this id.' });
}
