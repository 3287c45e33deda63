import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { REJECT_REASONS, rejectReason } from '../codes.ts';
import {
  type InquiryPolicy,
  LIVE_POLICY,
  mayTryElsewhere,
  nextSubmission,
  type Outcome,
  outcomeOf,
  SANDBOX_POLICY,
  type Step,
  type Submission,
  type SubmissionEvent,
  startSubmission,
} from './submission.ts';

const SENT_AT = new Date('2026-11-15T15:00:00Z');
const ACCEPTED: SubmissionEvent = { type: 'reported', outcome: { kind: 'accepted', posted: true } };
const UNDECIDED: SubmissionEvent = { type: 'reported', outcome: { kind: 'undecided' } };
const rejected = (code: string | null): SubmissionEvent => ({
  type: 'reported',
  outcome: { kind: 'rejected', code },
});

function run(
  events: readonly SubmissionEvent[],
  policy = LIVE_POLICY,
): { submission: Submission; steps: Step[] } {
  let submission = startSubmission(SENT_AT, policy);
  const steps = events.map((event) => {
    const transition = nextSubmission(submission, event, policy);
    submission = transition.submission;
    return transition.step;
  });
  return { submission, steps };
}

/** Lets every timer fire exactly when it is due, as long as there is one. */
function runTimers(policy: InquiryPolicy): { submission: Submission; log: [string, number][] } {
  let submission = startSubmission(SENT_AT, policy);
  const log: [string, number][] = [];
  while (submission.dueAt !== null) {
    const at = submission.dueAt;
    const transition = nextSubmission(submission, { type: 'due', at }, policy);
    log.push([transition.step.do, (at.getTime() - SENT_AT.getTime()) / 1000]);
    submission = transition.submission;
  }
  return { submission, log };
}

describe('a submission', () => {
  test('is settled by an acceptance, posted or not', () => {
    const { submission, steps } = run([ACCEPTED]);
    expect(submission).toMatchObject({ state: 'accepted', dueAt: null });
    expect(steps).toEqual([{ do: 'settle', posted: true }]);
    const later = run([{ type: 'reported', outcome: { kind: 'accepted', posted: false } }]);
    expect(later.steps).toEqual([{ do: 'settle', posted: false }]);
  });

  test('fails by a rejection, and ACH is tried where that may help', () => {
    const closed = run([rejected('AC04')]);
    expect(closed.submission).toMatchObject({ state: 'rejected', rejectCode: 'AC04' });
    expect(closed.steps).toEqual([{ do: 'fail', reason: rejectReason('AC04') }]);
    expect(mayTryElsewhere(closed.submission)).toBe(false);
    expect(mayTryElsewhere(run([rejected('9912')]).submission)).toBe(true);
    expect(mayTryElsewhere(run([rejected('DUPL')]).submission)).toBe(false);
    expect(mayTryElsewhere(run([rejected(null)]).submission)).toBe(false);
  });

  test('that never left is given back', () => {
    const { submission, steps } = run([{ type: 'never_left' }]);
    expect(submission.state).toBe('not_sent');
    expect(steps).toEqual([{ do: 'give_back' }]);
    expect(mayTryElsewhere(submission)).toBe(true);
  });

  test('is asked after 25 seconds live and one in the sandbox, not before', () => {
    for (const [policy, seconds] of [
      [LIVE_POLICY, 25],
      [SANDBOX_POLICY, 1],
    ] as const) {
      const due = (ms: number): SubmissionEvent => ({ type: 'due', at: new Date(SENT_AT.getTime() + ms) });
      expect(run([due(seconds * 1000 - 1)], policy).steps).toEqual([{ do: 'nothing', why: 'too_early' }]);
      const asked = run([due(seconds * 1000)], policy);
      expect(asked.steps).toEqual([{ do: 'inquire' }]);
      expect(asked.submission).toMatchObject({ state: 'unknown', inquiries: 1 });
      expect(mayTryElsewhere(asked.submission)).toBe(false);
    }
  });

  test('is asked again at growing distances, sent again once, shown to a person, and asked slowly then', () => {
    const { submission, log } = runTimers(LIVE_POLICY);
    expect(log.slice(0, 6)).toEqual([
      ['inquire', 25],
      ['inquire', 75],
      ['resend_identical', 175],
      ['inquire', 200],
      ['inquire', 400],
      ['inquire', 800],
    ]);
    expect(log.filter(([step]) => step === 'resend_identical')).toHaveLength(1);
    const alert = log.findIndex(([step]) => step === 'escalate');
    const inquiries = (part: typeof log) => part.filter(([step]) => step === 'inquire').length;
    expect(inquiries(log.slice(0, alert))).toBe(LIVE_POLICY.inquiriesMax);
    expect(inquiries(log.slice(alert))).toBe(LIVE_POLICY.slowInquiriesMax);
    expect(log.filter(([step]) => step === 'escalate')).toHaveLength(2);
    expect(log.at(-1)?.[0]).toBe('escalate');
    const distances = log.slice(1).map(([, at], index) => at - (log[index]?.[1] ?? 0));
    expect(Math.max(...distances.slice(0, alert)) * 1000).toBe(LIVE_POLICY.delayMaxMs);
    expect(new Set(distances.slice(alert))).toEqual(new Set([LIVE_POLICY.slowDelayMs / 1000]));
    expect(submission).toMatchObject({ state: 'unknown', dueAt: null });
    expect(mayTryElsewhere(submission)).toBe(false);
    expect(nextSubmission(submission, ACCEPTED, LIVE_POLICY).submission.state).toBe('accepted');
    const dueAgain: SubmissionEvent = { type: 'due', at: new Date('2030-01-01T00:00:00Z') };
    expect(nextSubmission(submission, dueAgain, LIVE_POLICY).step).toEqual({
      do: 'nothing',
      why: 'too_early',
    });
  });

  test('is left alone in the sandbox after one alert', () => {
    const { submission, log } = runTimers(SANDBOX_POLICY);
    expect(log.filter(([step]) => step === 'escalate')).toHaveLength(1);
    expect(log.at(-1)?.[0]).toBe('escalate');
    expect(submission).toMatchObject({ inquiries: SANDBOX_POLICY.inquiriesMax, dueAt: null });
  });

  test('is not sent again when the worker was away for long', () => {
    const at = (minutes: number): SubmissionEvent => ({
      type: 'due',
      at: new Date(SENT_AT.getTime() + minutes * 60_000),
    });
    expect(run([at(60), at(120), at(180), at(240)]).steps.map((step) => step.do)).toEqual(
      Array(4).fill('inquire'),
    );
  });

  test('that was sent again is not refused as a duplicate of itself', () => {
    const due = (seconds: number): SubmissionEvent => ({
      type: 'due',
      at: new Date(SENT_AT.getTime() + seconds * 1000),
    });
    const resent = [due(25), due(75), due(175)];
    expect(run([...resent, rejected('DUPL')])).toMatchObject({ submission: { state: 'unknown' } });
    expect(run([...resent, rejected('DUPL'), ACCEPTED]).submission.state).toBe('accepted');
    expect(run([...resent, rejected('AC04')]).submission.state).toBe('rejected');
    expect(run([rejected('DUPL')]).submission.state).toBe('rejected');
  });

  test('that is unknown proves nothing by failing to leave', () => {
    const due: SubmissionEvent = { type: 'due', at: new Date(SENT_AT.getTime() + 25_000) };
    expect(run([due, { type: 'never_left' }]).submission.state).toBe('unknown');
  });

  test('notices repeated and contradicting reports, and stays', () => {
    const why = (events: SubmissionEvent[]) => run(events).steps.at(-1);
    expect(why([ACCEPTED, ACCEPTED])).toEqual({ do: 'nothing', why: 'repeated' });
    expect(why([ACCEPTED, rejected('AC04')])).toEqual({ do: 'nothing', why: 'contradicts' });
    expect(why([rejected('AC04'), ACCEPTED])).toEqual({ do: 'nothing', why: 'contradicts' });
    expect(why([{ type: 'never_left' }, ACCEPTED])).toEqual({ do: 'nothing', why: 'contradicts' });
    expect(why([{ type: 'never_left' }, { type: 'never_left' }])).toEqual({ do: 'nothing', why: 'repeated' });
    expect(why([ACCEPTED, UNDECIDED])).toEqual({ do: 'nothing', why: 'ended' });
    expect(why([UNDECIDED])).toEqual({ do: 'nothing', why: 'undecided' });
  });

  test('reads its outcome from the status', () => {
    const base = { reason: { code: 'AC04', text: null } } as Parameters<typeof outcomeOf>[0];
    const outcomes: [Parameters<typeof outcomeOf>[0]['status'], Outcome][] = [
      ['ACTC', { kind: 'accepted', posted: true }],
      ['ACWP', { kind: 'accepted', posted: false }],
      ['RCVD', { kind: 'undecided' }],
      ['RJCT', { kind: 'rejected', code: 'AC04' }],
    ];
    for (const [status, outcome] of outcomes) expect(outcomeOf({ ...base, status })).toEqual(outcome);
    expect(outcomeOf({ ...base, status: 'RJCT', reason: null })).toEqual({ kind: 'rejected', code: null });
  });
});

describe('whatever happens, in whatever order', () => {
  const outcome: fc.Arbitrary<Outcome> = fc.oneof(
    fc.record({ kind: fc.constant('accepted' as const), posted: fc.boolean() }),
    fc.record({
      kind: fc.constant('rejected' as const),
      code: fc.option(fc.constantFrom(...REJECT_REASONS.keys())),
    }),
    fc.constant({ kind: 'undecided' as const }),
  );
  const event: fc.Arbitrary<SubmissionEvent> = fc.oneof(
    { weight: 1, arbitrary: fc.record({ type: fc.constant('reported' as const), outcome }) },
    { weight: 1, arbitrary: fc.constant({ type: 'never_left' as const }) },
    {
      weight: 4,
      arbitrary: fc
        .integer({ min: 0, max: 3_600_000 })
        .map((ms) => ({ type: 'due' as const, at: new Date(SENT_AT.getTime() + ms) })),
    },
  );

  test('it ends at most once, is paid by one way only, and keeps within its limits', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const { submission, steps } = run(events, SANDBOX_POLICY);
        const ends = steps.filter(
          (step) => step.do === 'settle' || step.do === 'fail' || step.do === 'give_back',
        );
        expect(ends.length).toBe(submission.state === 'sent' || submission.state === 'unknown' ? 0 : 1);
        if (mayTryElsewhere(submission)) expect(['rejected', 'not_sent']).toContain(submission.state);
        if (steps.some((step) => step.do === 'settle')) expect(mayTryElsewhere(submission)).toBe(false);
        expect(submission.resends).toBe(steps.filter((step) => step.do === 'resend_identical').length);
        expect(submission.resends).toBeLessThanOrEqual(SANDBOX_POLICY.resendsMax);
        expect(submission.inquiries).toBe(steps.filter((step) => step.do === 'inquire').length);
        expect(submission.inquiries).toBeLessThanOrEqual(SANDBOX_POLICY.inquiriesMax);
      }),
      { numRuns: 500 },
    );
  });
});
