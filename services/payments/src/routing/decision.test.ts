import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Assessment, decideRail, type Preference } from './decision.ts';
import { ROUTING_TERMS } from './terms.ts';

const at = new Date('2026-11-13T22:00:00Z');
const inHours = (hours: number) => new Date(at.getTime() + hours * 3_600_000);

const rtp: Assessment = {
  rail: 'rtp',
  obstacles: [],
  options: [{ fee: 45, settlesAt: inHours(0), sameDay: false }],
};
const ach = (hours: number): Assessment => ({
  rail: 'ach',
  obstacles: [],
  options: [{ fee: 20, settlesAt: inHours(hours), sameDay: false }],
});

function choose(amount: number, prefer: Preference, hours: number) {
  const result = decideRail({
    amount,
    at,
    prefer,
    only: null,
    assessments: [rtp, ach(hours)],
    terms: ROUTING_TERMS,
  });
  return result.ok ? result.decision.chosen : null;
}

describe('[P-4.13] choosing the rail', () => {
  test('small payments go by ACH and large ones by RTP when balanced', () => {
    expect(choose(1_000, 'balanced', 24)).toBe('ach');
    expect(choose(10_000_000, 'balanced', 24)).toBe('rtp');
  });

  test('a weekend before settlement counts: the same amount that waits a day does not wait three', () => {
    const amount = 60_000;
    expect(choose(amount, 'balanced', 24)).toBe('ach');
    expect(choose(amount, 'balanced', 72)).toBe('rtp');
  });

  test('speed takes the earliest, cost the cheapest, whatever the amount', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9_999_999_999 }),
        fc.integer({ min: 1, max: 200 }),
        (amount, hours) => {
          expect(choose(amount, 'speed', hours)).toBe('rtp');
          expect(choose(amount, 'cost', hours)).toBe('ach');
        },
      ),
    );
  });

  test('the chosen rail of a balanced choice has the lowest score', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9_999_999_999 }),
        fc.integer({ min: 0, max: 400 }),
        (amount, hours) => {
          const result = decideRail({
            amount,
            at,
            prefer: 'balanced',
            only: null,
            assessments: [rtp, ach(hours)],
            terms: ROUTING_TERMS,
          });
          if (!result.ok) throw new Error('there are two possible rails');
          const scores = result.decision.candidates.map((candidate) => candidate.score as number);
          const chosen = result.decision.candidates.find(
            (candidate) => candidate.rail === result.decision.chosen,
          );
          expect(chosen?.score).toBe(Math.min(...scores));
        },
      ),
    );
  });

  test('a rail that was asked for is taken or nothing is, and the reasons are told', () => {
    const closed: Assessment = { ...rtp, obstacles: ['amount_over_limit'] };
    const question = {
      amount: 1,
      at,
      prefer: 'balanced' as const,
      assessments: [closed, ach(24)],
      terms: ROUTING_TERMS,
    };
    expect(decideRail({ ...question, only: 'rtp' })).toMatchObject({ ok: false });
    const automatic = decideRail({ ...question, only: null });
    expect(automatic).toMatchObject({ ok: true, decision: { chosen: 'ach' } });
    expect(automatic.ok && automatic.decision.candidates[0]).toEqual({
      rail: 'rtp',
      possible: false,
      reasons: ['amount_over_limit'],
      fee: null,
      settles_at: null,
      score: null,
    });
  });
});
