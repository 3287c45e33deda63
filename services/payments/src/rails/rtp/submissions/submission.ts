import { type RejectReason, rejectReason } from '../codes.ts';
import type { StatusReport } from '../messages/status-report.ts';

/**
 * The life of one RTP instruction after the decision to send it was stored.
 *
 *   sent ──────► accepted            a report said so
 *    │  └──────► rejected            a report said so
 *    │  └──────► not_sent            the connection failed before anything left
 *    └► unknown ► accepted|rejected  no report in time: asked, asked again, sent again identically
 *
 * Silence is never a refusal: an unknown instruction stays unknown, and is never paid another way, until a
 * report settles it. There is no way back from an end.
 */
const MOVES = {
  sent: ['accepted', 'rejected', 'not_sent', 'unknown'],
  unknown: ['accepted', 'rejected'],
  accepted: [],
  rejected: [],
  not_sent: [],
} as const satisfies Record<string, readonly string[]>;

export type SubmissionState = keyof typeof MOVES;

export interface Submission {
  readonly state: SubmissionState;
  readonly firstSentAt: Date;
  readonly inquiries: number;
  readonly resends: number;
  /** When the next event of type `due` is wanted; null at an end, and when a person has to look. */
  readonly dueAt: Date | null;
  readonly rejectCode: string | null;
}

export interface InquiryPolicy {
  readonly inquireAfterMs: number;
  readonly delayFactor: number;
  readonly delayMaxMs: number;
  readonly inquiriesMax: number;
  /** Someone was told, and the network is still asked now and then: an answer may come days later. */
  readonly slowInquiriesMax: number;
  readonly slowDelayMs: number;
  /** After how many unanswered inquiries the identical message is sent again. */
  readonly resendAfterInquiries: number;
  readonly resendsMax: number;
  /** The network remembers what it has seen for a while; later, a repeat might pass as new. */
  readonly resendWithinMs: number;
}

export const LIVE_POLICY: InquiryPolicy = {
  inquireAfterMs: 25_000,
  delayFactor: 2,
  delayMaxMs: 15 * 60_000,
  inquiriesMax: 100,
  slowInquiriesMax: 120,
  slowDelayMs: 6 * 3_600_000,
  resendAfterInquiries: 2,
  resendsMax: 1,
  resendWithinMs: 10 * 60_000,
};

export const SANDBOX_POLICY: InquiryPolicy = {
  ...LIVE_POLICY,
  inquireAfterMs: 1_000,
  delayMaxMs: 60_000,
  inquiriesMax: 20,
  slowInquiriesMax: 0,
};

export type Outcome =
  | { readonly kind: 'accepted'; readonly posted: boolean }
  | { readonly kind: 'rejected'; readonly code: string | null }
  | { readonly kind: 'undecided' };

export type SubmissionEvent =
  /** Certain knowledge that no byte reached the network, at the first attempt. */
  | { readonly type: 'never_left' }
  | { readonly type: 'reported'; readonly outcome: Outcome }
  | { readonly type: 'due'; readonly at: Date };

/** What the caller has to do, after it has stored the new submission. */
export type Step =
  | { readonly do: 'settle'; readonly posted: boolean }
  | { readonly do: 'fail'; readonly reason: RejectReason }
  | { readonly do: 'give_back' }
  | { readonly do: 'inquire' }
  | { readonly do: 'resend_identical' }
  | { readonly do: 'escalate' }
  | {
      readonly do: 'nothing';
      readonly why: 'too_early' | 'undecided' | 'repeated' | 'contradicts' | 'ended';
    };

export interface Transition {
  readonly submission: Submission;
  readonly step: Step;
}

/** To be stored before the message is handed over, so that a crash leaves a submission that will be asked after. */
export function startSubmission(sentAt: Date, policy: InquiryPolicy): Submission {
  return {
    state: 'sent',
    firstSentAt: sentAt,
    inquiries: 0,
    resends: 0,
    dueAt: later(sentAt, policy.inquireAfterMs),
    rejectCode: null,
  };
}

export function outcomeOf(report: StatusReport): Outcome {
  switch (report.status) {
    case 'ACTC':
      return { kind: 'accepted', posted: true };
    case 'ACWP':
      return { kind: 'accepted', posted: false };
    case 'RJCT':
      return { kind: 'rejected', code: report.reason?.code ?? null };
    case 'RCVD':
      return { kind: 'undecided' };
  }
}

export function nextSubmission(
  submission: Submission,
  event: SubmissionEvent,
  policy: InquiryPolicy,
): Transition {
  switch (event.type) {
    case 'reported':
      return afterReport(submission, event.outcome);
    case 'never_left':
      return afterNeverLeft(submission);
    case 'due':
      return afterDue(submission, event.at, policy);
  }
}

/** Whether the amount may go over another rail instead: only when it is certain that this instruction pays nothing. */
export function mayTryElsewhere(submission: Submission): boolean {
  if (submission.state === 'not_sent') return true;
  return submission.state === 'rejected' && rejectReason(submission.rejectCode).mayWorkElsewhere;
}

function afterReport(submission: Submission, outcome: Outcome): Transition {
  if (outcome.kind === 'undecided') return stay(submission, isEnded(submission) ? 'ended' : 'undecided');
  if (isEnded(submission))
    return stay(submission, submission.state === outcome.kind ? 'repeated' : 'contradicts');
  if (outcome.kind === 'accepted') {
    return { submission: end(submission, 'accepted', null), step: { do: 'settle', posted: outcome.posted } };
  }
  // After a resend, "duplicate" only says that the first message had arrived; what became of it is still open.
  if (submission.resends > 0 && rejectReason(outcome.code).about === 'duplicate') {
    return stay(submission, 'undecided');
  }
  return {
    submission: end(submission, 'rejected', outcome.code),
    step: { do: 'fail', reason: rejectReason(outcome.code) },
  };
}

function afterNeverLeft(submission: Submission): Transition {
  if (submission.state === 'not_sent') return stay(submission, 'repeated');
  if (isEnded(submission)) return stay(submission, 'contradicts');
  // Once it was asked after, an earlier attempt may have got through: a failed one proves nothing any more.
  if (submission.state === 'unknown') return stay(submission, 'undecided');
  return { submission: end(submission, 'not_sent', null), step: { do: 'give_back' } };
}

function afterDue(submission: Submission, at: Date, policy: InquiryPolicy): Transition {
  if (isEnded(submission)) return stay(submission, 'ended');
  if (submission.dueAt === null || at < submission.dueAt) return stay(submission, 'too_early');
  const unknown = submission.state === 'unknown' ? submission : move(submission, 'unknown');
  if (submission.inquiries === policy.inquiriesMax || isOutOfPatience(submission, policy)) {
    return { submission: afterAlert(unknown, at, policy), step: { do: 'escalate' } };
  }
  if (mayResend(submission, at, policy)) {
    const resent = { ...unknown, resends: unknown.resends + 1, dueAt: later(at, policy.inquireAfterMs) };
    return { submission: resent, step: { do: 'resend_identical' } };
  }
  const inquiries = unknown.inquiries + 1;
  const asked = { ...unknown, inquiries, dueAt: later(at, delayAfter(inquiries, policy)) };
  return { submission: asked, step: { do: 'inquire' } };
}

function isOutOfPatience({ inquiries }: Submission, policy: InquiryPolicy): boolean {
  return inquiries > policy.inquiriesMax + policy.slowInquiriesMax;
}

/** The alert counts as a question, so that each of the two alerts is raised once. */
function afterAlert(submission: Submission, at: Date, policy: InquiryPolicy): Submission {
  if (policy.slowInquiriesMax === 0 || isOutOfPatience(submission, policy))
    return { ...submission, dueAt: null };
  return { ...submission, inquiries: submission.inquiries + 1, dueAt: later(at, policy.slowDelayMs) };
}

function mayResend(submission: Submission, at: Date, policy: InquiryPolicy): boolean {
  return (
    submission.inquiries >= policy.resendAfterInquiries &&
    submission.resends < policy.resendsMax &&
    at.getTime() - submission.firstSentAt.getTime() <= policy.resendWithinMs
  );
}

function delayAfter(inquiries: number, policy: InquiryPolicy): number {
  if (inquiries > policy.inquiriesMax) return policy.slowDelayMs;
  return Math.min(policy.inquireAfterMs * policy.delayFactor ** inquiries, policy.delayMaxMs);
}

function isEnded(submission: Submission): boolean {
  return MOVES[submission.state].length === 0;
}

function end(submission: Submission, state: SubmissionState, rejectCode: string | null): Submission {
  return { ...move(submission, state), dueAt: null, rejectCode };
}

function move(submission: Submission, state: SubmissionState): Submission {
  const allowed: readonly SubmissionState[] = MOVES[submission.state];
  if (!allowed.includes(state))
    throw new Error(`an RTP submission cannot go from ${submission.state} to ${state}`);
  return { ...submission, state };
}

function stay(submission: Submission, why: Extract<Step, { do: 'nothing' }>['why']): Transition {
  return { submission, step: { do: 'nothing', why } };
}

function later(from: Date, ms: number): Date {
  return new Date(from.getTime() + ms);
}
