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

const question = { amount: 60_000, at, prefer: 'balanced' as Preference, only: null, terms: ROUTING_TERMS };

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
    const assessments = [closed, ach(24)];
    expect(decideRail({ ...question, assessments, only: 'rtp' })).toMatchObject({ ok: false });
    const automatic = decideRail({ ...question, assessments });
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

  test('the score is the fee and what the wait costs, and is shown beside the fee', () => {
    const result = decideRail({ ...question, assessments: [rtp, ach(24)] });
    expect(result.ok && result.decision.candidates).toMatchObject([
      { fee: { amount: 45, currency: 'USD' }, score: 45 },
      { fee: { amount: 20, currency: 'USD' }, settles_at: '2026-11-14T22:00:00.000Z', score: 36.4384 },
    ]);
  });

  test('of the ways of one rail the one that suits the preference stands for it', () => {
    const options = [
      { fee: 20, settlesAt: inHours(24), sameDay: false },
      { fee: 50, settlesAt: inHours(2), sameDay: true },
    ];
    const optionFor = (prefer: Preference, order: typeof options) => {
      const assessments: Assessment[] = [{ rail: 'ach', obstacles: [], options: order }];
      const result = decideRail({ ...question, prefer, assessments });
      return result.ok && result.option;
    };
    for (const order of [options, options.toReversed()]) {
      expect(optionFor('cost', order)).toBe(options[0]);
      expect(optionFor('speed', order)).toBe(options[1]);
    }
  });

  test('ties fall to the cheaper, then to the earlier, then to the rail that is listed first', () => {
    const way = (fee: number, hours: number, rail: 'rtp' | 'ach'): Assessment => ({
      rail,
      obstacles: [],
      options: [{ fee, settlesAt: inHours(hours), sameDay: false }],
    });
    const chosen = (prefer: Preference, one: Assessment, other: Assessment, amount = question.amount) => {
      const result = decideRail({ ...question, prefer, amount, assessments: [one, other] });
      return result.ok ? result.decision.chosen : null;
    };
    expect(chosen('speed', way(2, 1, 'rtp'), way(1, 1, 'ach'))).toBe('ach');
    expect(chosen('cost', way(1, 2, 'rtp'), way(1, 1, 'ach'))).toBe('ach');
    // Ten hours of 87.60 dollars cost the one cent by which the other is dearer.
    expect(chosen('balanced', way(2, 0, 'rtp'), way(1, 10, 'ach'), 8_760)).toBe('ach');
    expect(chosen('balanced', way(1, 10, 'rtp'), way(1, 10, 'ach'))).toBe('rtp');
  });
});
