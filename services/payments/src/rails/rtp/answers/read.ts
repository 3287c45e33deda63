import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import type { Queryable } from '@libs/db';
import { batchesForCores, completeJobs, type Handler, type Job } from '@libs/jobs';
import type { TenantTimes } from '../../../clock/service.ts';
import { lanesOf } from '../../../job-lanes.ts';
import type { WholeQuarantined } from '../../../quarantine/quarantine.ts';
import type { Mode } from '../../../tenant.ts';
import type { RailOutcome } from '../../rail.ts';
import { keepMessages, openReports } from '../kept/kept-messages.ts';
import type { NetworkMessage } from '../kept/message-store.ts';
import { readStatusReport } from '../messages/read.ts';
import type { StatusReport } from '../messages/status-report.ts';
import { type AcceptedSubmission, acceptFirst } from '../submissions/ordinary-store.ts';
import {
  findOwners,
  lockByReference,
  type StoredSubmission,
  updateSubmissions,
} from '../submissions/store.ts';
import {
  LIVE_POLICY,
  mayTryElsewhere,
  nextSubmission,
  outcomeOf,
  type Submission,
  type Transition,
} from '../submissions/submission.ts';
import { ATTEMPTS_WITHOUT_END, type RtpWorkerDependencies, retryDelayMs } from '../work/context.ts';
import { MESSAGES_PER_READ_MAX, READ_JOB, type ReadPayload } from '../work/jobs.ts';
import { faultOf, plainAcceptances, type Received, type ReceivedReport, readReports } from './reports.ts';
import { railVerdict } from './sign-off.ts';

const QUARANTINE_ID_DIGITS = 32;
const JOBS_AT_ONCE = 50;

/**
 * Reads what the network sent. Everything that follows from a batch commits with the batch: messages kept, payments
 * moved, jobs done. What cannot be read, matched or believed is put aside whole and touches nothing.
 */
export function createReadHandler(deps: RtpWorkerDependencies): Handler {
  return {
    ...lanesOf(READ_JOB),
    batchMax: JOBS_AT_ONCE,
    items: { max: MESSAGES_PER_READ_MAX, of: ({ payload }) => (payload as ReadPayload).messages.length },
    concurrency: { most: batchesForCores() },
    attemptsMax: ATTEMPTS_WITHOUT_END,
    retryDelayMs,
    tenantsOf: (jobs) => findOwners(deps.database, jobs.map(instructionsIn)),
    async handle(jobs) {
      const afterCommit = await deps.database.transaction(async (tx) => {
        const later = await readReceived(deps, tx, receivedIn(jobs));
        await completeJobs(tx, jobs);
        return later;
      });
      await afterCommit();
    },
  };
}

/** Takes messages in, in the caller's transaction; gives back what is to be done after the commit. */
export async function readReceived(
  deps: RtpWorkerDependencies,
  tx: Queryable,
  received: readonly Received[],
): Promise<() => Promise<void>> {
  const { reports, unreadable } = readReports(received);
  const work = await takeReports(deps, tx, reports);
  for (const one of unreadable) work.putAside(one, one.reason);
  await work.write(tx);
  return async () => {
    work.raiseAlerts();
    await reportVerdicts(deps, work.decided);
  };
}

/**
 * Takes a report as one on this locked instruction, whatever it says of that itself. Answers why it changes nothing, or
 * null where it did.
 */
export async function takeReportOn(
  deps: RtpWorkerDependencies,
  tx: Queryable,
  received: ReceivedReport,
  stored: StoredSubmission,
): Promise<string | null> {
  assert(stored.submission, 'what is reported on was handed over');
  const times = await deps.clocks.timesOf(tx, [stored.tenantId]);
  const byReference = new Map([[received.report.original.instructionId, stored]]);
  const work = new ReadWork(deps, times, await findSeen(deps, tx, { reports: [received], byReference }));
  work.take(received, stored, stored.submission);
  if (work.decided.length === 0) return work.refusal ?? 'It decides nothing that is not known already.';
  await work.write(tx);
  return null;
}

/** What cannot be read is nobody's, and put aside on the first server. */
function instructionsIn(job: Job): string[] {
  return readReports(receivedIn([job])).reports.map(({ report }) => report.original.instructionId);
}

function receivedIn(jobs: readonly Job[]): Received[] {
  return jobs.flatMap((job) => {
    const { mode, messages } = job.payload as ReadPayload;
    return messages.map((xml) => ({ mode, xml }));
  });
}

async function takeReports(
  deps: RtpWorkerDependencies,
  tx: Queryable,
  reports: readonly ReceivedReport[],
): Promise<ReadWork> {
  const plain = plainAcceptances(deps.connections, reports);
  const reported = new Set(reports.map(({ report }) => report.original.instructionId));
  for (const { instructionId } of plain) reported.delete(instructionId);
  const ended = await acceptFirst(tx, plain, [...reported]);
  const accepted = new Map(ended.map((one) => [one.instructionId, one]));
  const others = reports.filter(({ report }) => !accepted.has(report.original.instructionId));
  const references = new Set(others.map(({ report }) => report.original.instructionId));
  const stored = references.size === 0 ? [] : await lockByReference(tx, [...references]);
  const times = await deps.clocks.timesOf(
    tx,
    [...ended, ...stored].map((one) => one.tenantId),
  );
  const byReference = new Map(stored.map((one) => [one.instructionId, one]));
  const work = new ReadWork(deps, times, await findSeen(deps, tx, { reports: others, byReference }));
  for (const received of reports) {
    const plain = accepted.get(received.report.original.instructionId);
    if (plain) work.accept(received, plain);
  }
  for (const received of others) {
    const found = byReference.get(received.report.original.instructionId);
    const fault = faultOf(received, found, deps.connections[received.mode]?.identity);
    if (fault !== null || !found?.submission) work.putAside(received, fault ?? 'unmatched');
    else work.take(received, found, work.current(found, found.submission));
  }
  return work;
}

interface Reports {
  reports: readonly ReceivedReport[];
  byReference: ReadonlyMap<string, StoredSubmission>;
}

/**
 * The ids of reports that came before, for those that are not simply the first answer to a transfer: the one repeats
 * an old report word for word, which a network does not do, the other is a second report with its own id.
 */
async function findSeen(
  { vault }: RtpWorkerDependencies,
  tx: Queryable,
  { reports, byReference }: Reports,
): Promise<Map<string, string>> {
  const later = reports.flatMap(({ report }) => {
    const found = byReference.get(report.original.instructionId);
    const isFirst = found?.submission?.state === 'sent' && report.status !== 'RCVD';
    return found && !isFirst ? [found] : [];
  });
  const seen = new Map<string, string>();
  for (const xml of await openReports(tx, vault, later)) {
    const reading = readStatusReport(xml);
    if (reading.ok) seen.set(reading.message.messageId, xml);
  }
  return seen;
}

interface Decided {
  mode: Mode;
  rejectCode: string | null;
}

/** What a batch of reports changes, gathered so that each table is written once. */
class ReadWork {
  readonly decided: Decided[] = [];
  readonly #deps: RtpWorkerDependencies;
  readonly #times: TenantTimes;
  readonly #seen: Map<string, string>;
  readonly #changed = new Map<string, StoredSubmission & { submission: Submission }>();
  readonly #outcomes: RailOutcome[] = [];
  readonly #messages: NetworkMessage[] = [];
  readonly #aside: WholeQuarantined[] = [];

  constructor(deps: RtpWorkerDependencies, times: TenantTimes, seen: Map<string, string>) {
    this.#deps = deps;
    this.#times = times;
    this.#seen = seen;
  }

  /** The submission with what this batch has changed in it so far. */
  current(stored: StoredSubmission, submission: Submission): Submission {
    return this.#changed.get(stored.instructionId)?.submission ?? submission;
  }

  putAside({ mode, xml }: Received, reason: string): void {
    // By its content, so that a message that is delivered again lies there once.
    const id = `qrt_${hash('sha256', `${reason}\n${xml}`).slice(0, QUARANTINE_ID_DIGITS)}`;
    this.#aside.push({ id, rail: 'rtp', mode, content: xml, reason, receivedAt: this.#deps.now() });
  }

  /** Why the first of what was put aside was. */
  get refusal(): string | undefined {
    return this.#aside[0]?.reason;
  }

  take(received: ReceivedReport, stored: StoredSubmission, submission: Submission): void {
    const { report, mode } = received;
    const event = { type: 'reported', outcome: outcomeOf(report) } as const;
    const next = nextSubmission(submission, event, this.#deps.connections[mode]?.policy ?? LIVE_POLICY);
    const before = this.#seen.get(report.messageId);
    // Gateways deliver at least once: the same message again is no news. Its id with another text is no network's doing.
    if (before === received.xml) return;
    if (before !== undefined) {
      this.putAside(received, 'replayed: another report came under this id before');
    } else if (next.step.do === 'nothing' && next.step.why === 'contradicts') {
      this.putAside(received, `contradicts: the instruction was ${submission.state} before`);
    } else {
      this.#seen.set(report.messageId, received.xml);
      this.#apply(received, stored, next);
    }
  }

  /** The first answer to a transfer: its instruction is ended already. */
  accept(received: ReceivedReport, ended: AcceptedSubmission): void {
    const { tenantId, paymentId, attemptId } = ended;
    this.#keep(received, ended);
    this.#outcomes.push({ tenantId, paymentId, attemptId, kind: 'settled', at: this.#times.at(tenantId) });
    this.decided.push({ mode: received.mode, rejectCode: null });
  }

  #apply(received: ReceivedReport, stored: StoredSubmission, next: Transition): void {
    this.#keep(received, stored);
    this.#changed.set(stored.instructionId, { ...stored, submission: next.submission });
    const outcome = this.#outcomeOf(stored, received.report, next);
    if (!outcome) return;
    this.#outcomes.push(outcome);
    this.decided.push({ mode: received.mode, rejectCode: next.submission.rejectCode });
  }

  #keep({ xml }: Received, { tenantId, paymentId }: Pick<StoredSubmission, 'tenantId' | 'paymentId'>): void {
    this.#messages.push({
      tenantId,
      paymentId,
      id: this.#deps.newId('msg'),
      direction: 'in',
      kind: 'pacs.002',
      content: xml,
      createdAt: this.#times.at(tenantId),
    });
  }

  #outcomeOf(
    { tenantId, paymentId, attemptId }: StoredSubmission,
    report: StatusReport,
    { submission, step }: Transition,
  ): RailOutcome | null {
    const key = { tenantId, paymentId, attemptId };
    if (step.do === 'settle') return { ...key, kind: 'settled', at: this.#times.at(tenantId) };
    if (step.do !== 'fail') return null;
    const { reason } = step;
    const text = report.reason?.text;
    return {
      ...key,
      kind: 'rejected',
      networkCode: reason.code === '' ? null : reason.code,
      code: reason.failureCode,
      detail: text ? `${reason.title} (${text})` : reason.title,
      mayWorkElsewhere: mayTryElsewhere(submission),
    };
  }

  async write(tx: Queryable): Promise<void> {
    await updateSubmissions(tx, [...this.#changed.values()]);
    await keepMessages(tx, this.#deps.vault, this.#messages);
    await this.#deps.quarantine.putAside(tx, this.#aside);
    await this.#deps.applyOutcomes(tx, this.#outcomes);
  }

  raiseAlerts(): void {
    for (const { id, reason } of this.#aside) {
      this.#deps.log.error(
        { alert: 'rail_quarantine', rail: 'rtp', quarantine: id, reason },
        'a message was put aside',
      );
    }
  }
}

/** The sandbox's rejects are wishes of its users: they say nothing about the rail. */
async function reportVerdicts(deps: RtpWorkerDependencies, decided: readonly Decided[]): Promise<void> {
  for (const { mode, rejectCode } of decided) {
    if (mode === 'test') continue;
    const verdict = railVerdict(rejectCode);
    if (verdict === 'works') {
      await deps.health.reportSuccess('rtp', mode, 'network');
    } else {
      const detail = `the network answered ${rejectCode}`;
      const failure = { cause: 'signed_off', detail, decisive: verdict === 'out' } as const;
      await deps.health.reportFailure('rtp', mode, failure);
    }
  }
}
