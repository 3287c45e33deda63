import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decide,
  parseRetryAfterMs,
  type RetryRules,
  type ScheduleState,
  type TryOutcome,
} from './schedule.ts';

const SECOND = 1_000;
const DAY = 86_400 * SECOND;
const now = new Date('2026-11-15T12:00:00Z');

const rules: RetryRules = {
  retryDelaysMs: [5 * SECOND, 300 * SECOND, 1_800 * SECOND],
  jitter: 0.2,
  honourRetryAfter: true,
  disableOnGone: true,
  statusWhenExhausted: 'failed',
};

const failure: TryOutcome = { status: 500, error: 'answered 500', retryAfter: null };
const start: ScheduleState = { step: 0, early: false };

const decideAt = (outcome: TryOutcome, state = start, random = 0, changed: Partial<RetryRules> = {}) =>
  decide(outcome, state, { ...rules, ...changed }, { now, random: () => random });

const anyFailure: fc.Arbitrary<TryOutcome> = fc.record({
  status: fc.constantFrom(null, 100, 301, 302, 400, 404, 429, 500, 503),
  error: fc.constant('failed'),
  retryAfter: fc.option(fc.oneof(fc.nat(200_000).map(String), fc.string())),
});

describe('decide', () => {
  it('takes every 2xx with a complete answer as delivered, and nothing else', () => {
    for (const status of [200, 201, 202, 204, 299]) {
      expect(decideAt({ status, error: null, retryAfter: null })).toEqual({ kind: 'delivered' });
    }
    for (const status of [null, 199, 300, 304]) {
      expect(decideAt({ status, error: null, retryAfter: null }).kind).toBe('retry');
    }
    expect(decideAt({ status: 200, error: 'no complete answer', retryAfter: null }).kind).toBe('retry');
    fc.assert(
      fc.property(anyFailure, (outcome) => {
        expect(decideAt(outcome).kind).not.toBe('delivered');
      }),
    );
  });

  it('gives each delay of the schedule once, then gives up', () => {
    let state = start;
    const delays: number[] = [];
    for (;;) {
      const decision = decideAt(failure, state);
      if (decision.kind !== 'retry') {
        expect(decision.kind).toBe('exhausted');
        break;
      }
      delays.push(decision.delayMs);
      state = decision;
    }
    expect(delays).toEqual(rules.retryDelaysMs);
  });

  it('adds jitter and never takes time away', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.constantFrom(0, 1, 2),
        (random, step) => {
          const decision = decideAt(failure, { step, early: false }, random);
          const delayMs = rules.retryDelaysMs[step] ?? 0;
          if (decision.kind !== 'retry') throw new Error('expected a retry');
          expect(decision.delayMs).toBeGreaterThanOrEqual(delayMs);
          expect(decision.delayMs).toBeLessThanOrEqual(delayMs * 1.2);
        },
      ),
    );
  });

  it('treats 410 as the end only where it is told to', () => {
    const gone: TryOutcome = { status: 410, error: 'answered 410', retryAfter: null };
    expect(decideAt(gone)).toEqual({ kind: 'gone' });
    expect(decideAt(gone, start, 0, { disableOnGone: false }).kind).toBe('retry');
  });

  it('waits longer when Retry-After says so, and uses the step up', () => {
    expect(decideAt({ ...failure, retryAfter: '60' })).toEqual({
      kind: 'retry',
      delayMs: 60 * SECOND,
      step: 1,
      early: false,
    });
  });

  it('comes earlier when Retry-After says so, once per step', () => {
    const first = decideAt({ ...failure, retryAfter: '2' });
    expect(first).toEqual({ kind: 'retry', delayMs: 2 * SECOND, step: 0, early: true });
    const second = decideAt({ ...failure, retryAfter: '2' }, { step: 0, early: true });
    expect(second).toEqual({ kind: 'retry', delayMs: 5 * SECOND, step: 1, early: false });
  });

  it('leaves Retry-After alone where it is not honoured', () => {
    expect(decideAt({ ...failure, retryAfter: '60' }, start, 0, { honourRetryAfter: false })).toMatchObject({
      delayMs: 5 * SECOND,
    });
  });

  it('always comes to an end, within twice the schedule, whatever a receiver answers', () => {
    fc.assert(
      fc.property(fc.array(anyFailure, { minLength: 10, maxLength: 10 }), (outcomes) => {
        let state = start;
        let tries = 0;
        for (const outcome of outcomes) {
          tries += 1;
          const decision = decideAt(outcome, state);
          if (decision.kind !== 'retry') break;
          expect(decision.delayMs).toBeGreaterThanOrEqual(SECOND);
          expect(decision.delayMs).toBeLessThanOrEqual(DAY);
          state = decision;
        }
        expect(tries).toBeGreaterThan(rules.retryDelaysMs.length);
        expect(tries).toBeLessThanOrEqual(2 * rules.retryDelaysMs.length + 1);
      }),
    );
  });
});

describe('parseRetryAfterMs', () => {
  it.each([
    ['120', 120 * SECOND],
    [' 7 ', 7 * SECOND],
    ['0', SECOND],
    ['Sun, 15 Nov 2026 12:00:30 GMT', 30 * SECOND],
    ['Sun, 15 Nov 2026 11:00:00 GMT', SECOND],
    ['9999999', DAY],
    ['600.5', 600_500],
    ['-1', undefined],
    ['retry-after 5', undefined],
    ['soon', undefined],
    ['', undefined],
    ['12345678901', undefined],
  ])('%j is %s ms', (text, expected) => {
    expect(parseRetryAfterMs(text, now)).toBe(expected);
  });
});
