// What a month costs: exact examples, and the rules that hold for any plan, any usage and any change.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { daysIn } from '../period.ts';
import { apportion } from './apportion.ts';
import { type DayTerms, type DayUsage, type PlanTerms, priceMonth, prorate } from './pricing.ts';
import { type PlanChange, type PlanVersion, termsByDay } from './timeline.ts';

const free = { plan: 'free', name: 'Free', priceCents: 0, includedCalls: 1_000, overageCentsPer1000: 0 };
const starter = {
  plan: 'starter',
  name: 'Starter',
  priceCents: 2_900,
  includedCalls: 50_000,
  overageCentsPer1000: 60,
};
const scale = {
  plan: 'scale',
  name: 'Scale',
  priceCents: 22_900,
  includedCalls: 1_000_000,
  overageCentsPer1000: 25,
};
const versions: PlanVersion[] = [free, starter, scale].map((terms) => ({
  ...terms,
  effectiveAt: new Date(0),
}));
const platformTitle = (platform: string) => platform.toUpperCase();

function month(period: string, terms: PlanTerms, usage: readonly DayUsage[] = []) {
  const days = Array.from({ length: daysIn(period) }, (_, index) => ({ day: index + 1, terms }));
  return priceMonth({ period, days, usage, platformTitle });
}

describe('examples', () => {
  test('zero usage costs the price of the plan, and nothing on the free one', () => {
    expect(month('2026-10', starter)).toEqual({
      lines: [{ platform: null, description: 'Starter plan, October 2026', quantity: 1, amountCents: 2_900 }],
      totalCents: 2_900,
    });
    expect(month('2026-10', free).totalCents).toBe(0);
  });

  test('calls within the plan are shown and free, those beyond cost the rate', () => {
    const { lines, totalCents } = month('2026-10', starter, [
      { day: 1, platform: 'slack', calls: 20_000 },
      { day: 2, platform: 'email', calls: 45_000 },
    ]);
    expect(lines.slice(1)).toEqual([
      { platform: 'email', description: 'EMAIL: calls included', quantity: 30_000, amountCents: 0 },
      {
        platform: 'email',
        description: 'EMAIL: calls beyond the Starter plan, 0.60 USD per 1,000',
        quantity: 15_000,
        amountCents: 900,
      },
      { platform: 'slack', description: 'SLACK: calls included', quantity: 20_000, amountCents: 0 },
    ]);
    expect(totalCents).toBe(3_800);
  });

  test('ten million calls', () => {
    const usage = [{ day: 7, platform: 'email', calls: 10_000_000 }];
    expect(month('2026-10', starter, usage).totalCents).toBe(2_900 + 9_950_000 * 0.06);
    expect(month('2026-10', scale, usage).totalCents).toBe(22_900 + 225_000);
  });

  test('what an admin lets through beyond a plan that stops is free', () => {
    const { totalCents, lines } = month('2026-10', free, [{ day: 1, platform: 'email', calls: 5_000 }]);
    expect(totalCents).toBe(0);
    expect(lines.at(-1)).toMatchObject({ quantity: 5_000, description: 'EMAIL: calls included' });
  });

  test('February has 29 days in a leap year: its last day is a 29th of the price', () => {
    const change = { at: new Date('2028-02-29T13:00:00Z'), previousPlan: 'free', plan: 'scale' };
    const history = { createdAt: new Date('2028-01-05T00:00:00Z'), plan: 'scale', changes: [change] };
    const days = termsByDay('2028-02', history, versions);
    expect(days).toHaveLength(29);
    const { lines } = priceMonth({ period: '2028-02', days, usage: [], platformTitle });
    expect(lines.map(({ description, amountCents }) => [description, amountCents])).toEqual([
      ['Free plan, 28 of 29 days', 0],
      ['Scale plan, 1 of 29 days', Math.floor(22_900 / 29)],
    ]);
    expect(month('2028-02', scale).totalCents).toBe(22_900);
  });
});

describe('a month under two plans', () => {
  const days = Array.from({ length: 31 }, (_, index) => ({
    day: index + 1,
    terms: index < 9 ? starter : scale,
  }));
  const priceOf = (usage: readonly DayUsage[]) =>
    priceMonth({ period: '2026-10', days, usage, platformTitle });
  const beyond = (usage: readonly DayUsage[]) =>
    priceOf(usage)
      .lines.filter(({ amountCents, platform }) => platform !== null && amountCents > 0)
      .map(({ quantity, amountCents }) => [quantity, amountCents]);

  test('[TH-7.10] calls that were paid for beyond the first count towards what the second includes', () => {
    const usage = [
      { day: 9, platform: 'email', calls: 60_000 },
      { day: 10, platform: 'email', calls: 950_000 },
    ];
    expect(beyond(usage)).toEqual([
      [10_000, 600],
      [10_000, 250],
    ]);
  });

  test('[TH-7.10] a call is priced by the plan of its own day, from the first on which it held', () => {
    expect(beyond([{ day: 10, platform: 'email', calls: 60_000 }])).toEqual([]);
    expect(beyond([{ day: 9, platform: 'email', calls: 60_000 }])).toEqual([[10_000, 600]]);
  });
});

describe('the plan of each day', () => {
  const at = (text: string) => new Date(`2026-10-${text}Z`);
  const plansOf = (days: readonly DayTerms[]) => days.map(({ terms }) => terms.plan);

  test('a customer that came in the middle of the month is charged from that day on', () => {
    const days = termsByDay(
      '2026-10',
      { createdAt: at('10T23:59:59.999'), plan: 'starter', changes: [] },
      versions,
    );
    expect(days.map(({ day }) => day)).toEqual(Array.from({ length: 22 }, (_, index) => index + 10));
    const atMidnight = { createdAt: at('11T00:00:00'), plan: 'starter', changes: [] };
    expect(termsByDay('2026-10', atMidnight, versions)[0]?.day).toBe(11);
  });

  test('a smaller plan that is taken at midnight holds for the day that begins', () => {
    const changes = [{ at: at('20T00:00:00'), previousPlan: 'scale', plan: 'starter' }];
    const history = { createdAt: new Date('2026-01-01T00:00:00Z'), plan: 'starter', changes };
    const plans = plansOf(termsByDay('2026-10', history, versions));
    expect(plans.slice(18, 20)).toEqual(['scale', 'starter']);
  });

  test('of two plans of one price the later one holds', () => {
    const other = { ...starter, plan: 'other', effectiveAt: new Date(0) };
    const changes = [{ at: at('20T12:00:00'), previousPlan: 'starter', plan: 'other' }];
    const history = { createdAt: new Date('2026-01-01T00:00:00Z'), plan: 'other', changes };
    expect(plansOf(termsByDay('2026-10', history, [...versions, other]))[19]).toBe('other');
  });

  test('a day belongs to the dearest plan that held on it, whichever way the change went', () => {
    const changes: PlanChange[] = [
      { at: at('05T09:00:00'), previousPlan: 'starter', plan: 'scale' },
      { at: at('05T10:00:00'), previousPlan: 'scale', plan: 'free' },
      { at: at('20T00:00:00'), previousPlan: 'free', plan: 'starter' },
      { at: new Date('2026-11-01T00:00:00Z'), previousPlan: 'starter', plan: 'scale' },
    ];
    const plans = plansOf(
      termsByDay(
        '2026-10',
        { createdAt: new Date('2026-01-01T00:00:00Z'), plan: 'scale', changes },
        versions,
      ),
    );
    expect(plans.slice(0, 4)).toEqual(Array(4).fill('starter'));
    expect(plans[4]).toBe('scale');
    expect(plans.slice(5, 19)).toEqual(Array(14).fill('free'));
    expect(plans.slice(19)).toEqual(Array(12).fill('starter'));
  });

  test('a change after the month leaves it as it was', () => {
    const changes = [{ at: new Date('2026-12-24T00:00:00Z'), previousPlan: 'starter', plan: 'free' }];
    const history = { createdAt: new Date('2026-01-01T00:00:00Z'), plan: 'free', changes };
    expect(new Set(plansOf(termsByDay('2026-10', history, versions)))).toEqual(new Set(['starter']));
  });

  test('a price that changed, or a plan that went, in the middle of the month: what held at its start is charged', () => {
    const dearer = { ...starter, priceCents: 9_900, effectiveAt: at('15T00:00:00') };
    const known = [
      ...versions.filter(({ plan }) => plan !== 'starter'),
      { ...starter, effectiveAt: new Date(0) },
    ];
    const history = { createdAt: new Date('2026-01-01T00:00:00Z'), plan: 'starter', changes: [] };
    const october = termsByDay('2026-10', history, [...known, dearer]);
    expect(new Set(october.map(({ terms }) => terms.priceCents))).toEqual(new Set([2_900]));
    const november = termsByDay('2026-11', history, [...known, dearer]);
    expect(new Set(november.map(({ terms }) => terms.priceCents))).toEqual(new Set([9_900]));
    expect(() => termsByDay('2026-10', { ...history, plan: 'gone' }, known)).toThrow('gone');
  });

  test('who takes a plan after its price changed pays the new one', () => {
    const dearer = { ...starter, priceCents: 9_900, effectiveAt: at('15T00:00:00') };
    const pricesFrom = (change: Date) => {
      const changes = [{ at: change, previousPlan: 'free', plan: 'starter' }];
      const history = { createdAt: new Date('2026-01-01T00:00:00Z'), plan: 'starter', changes };
      return termsByDay('2026-10', history, [...versions, dearer]).at(-1)?.terms.priceCents;
    };
    expect(pricesFrom(at('14T23:59:59'))).toBe(2_900);
    expect(pricesFrom(at('15T00:00:00'))).toBe(9_900);
  });

  test('the first month of an installation, whose plans are younger than the month, has their first price', () => {
    const young = versions.map((version) => ({ ...version, effectiveAt: at('15T09:00:00') }));
    const history = { createdAt: at('15T10:00:00'), plan: 'starter', changes: [] };
    expect(termsByDay('2026-10', history, young)[0]).toEqual({ day: 15, terms: starter });
  });
});

const terms = fc.record({
  plan: fc.constantFrom('a', 'b', 'c', 'd'),
  name: fc.constantFrom('A', 'B'),
  priceCents: fc.integer({ min: 0, max: 1_000_000 }),
  includedCalls: fc.integer({ min: 0, max: 2_000_000 }),
  overageCentsPer1000: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 10_000 })),
});
const anyPeriod = fc
  .record({ year: fc.integer({ min: 2024, max: 2032 }), month: fc.integer({ min: 1, max: 12 }) })
  .map(({ year, month: number }) => `${year}-${String(number).padStart(2, '0')}`);
const anyMonth = anyPeriod.chain((period) => {
  const length = daysIn(period);
  return fc.record({
    period: fc.constant(period),
    days: fc
      .tuple(fc.array(terms, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: length }))
      .chain(([plans, first]) =>
        fc
          .array(fc.nat({ max: plans.length - 1 }), {
            minLength: length - first + 1,
            maxLength: length - first + 1,
          })
          .map((choices) =>
            choices.map((choice, index) => ({ day: first + index, terms: plans[choice] as PlanTerms })),
          ),
      ),
    usage: fc.uniqueArray(
      fc.record({
        day: fc.integer({ min: 1, max: length }),
        platform: fc.constantFrom('email', 'slack', 'x', 'telegram'),
        calls: fc.integer({ min: 1, max: 20_000_000 }),
      }),
      { maxLength: 40, selector: ({ day, platform }) => `${day} ${platform}` },
    ),
  });
});

describe('for any plans, changes and usage', () => {
  const price = (input: { period: string; days: DayTerms[]; usage: DayUsage[] }) =>
    priceMonth({ ...input, platformTitle });
  const calls = (usage: readonly DayUsage[]) => usage.reduce((sum, entry) => sum + entry.calls, 0);

  test('[TH-7.10] the lines sum to the total, and every call is on one line of its platform', () => {
    fc.assert(
      fc.property(anyMonth, (input) => {
        const { lines, totalCents } = price(input);
        expect(lines.reduce((sum, { amountCents }) => sum + amountCents, 0)).toBe(totalCents);
        for (const { amountCents, quantity } of lines) {
          expect(Number.isSafeInteger(amountCents) && amountCents >= 0).toBe(true);
          expect(quantity).toBeGreaterThan(0);
        }
        for (const platform of new Set(input.usage.map((entry) => entry.platform)))
          expect(
            lines.filter((line) => line.platform === platform).reduce((sum, line) => sum + line.quantity, 0),
          ).toBe(calls(input.usage.filter((entry) => entry.platform === platform)));
      }),
    );
  });

  test('days of any plans never cost more than a full month of the dearest', () => {
    fc.assert(
      fc.property(anyMonth, ({ period, days }) => {
        const { totalCents } = price({ period, days, usage: [] });
        expect(totalCents).toBeLessThanOrEqual(Math.max(...days.map(({ terms: held }) => held.priceCents)));
      }),
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1e9 }),
        fc.integer({ min: 28, max: 31 }),
        fc.nat(),
        (cents, of, some) => {
          const part = some % (of + 1);
          const both = prorate(cents, { days: part, of }) + prorate(cents, { days: of - part, of });
          expect(both).toBeLessThanOrEqual(cents);
          expect(cents - both).toBeLessThanOrEqual(1);
          expect(prorate(cents, { days: of, of })).toBe(cents);
        },
      ),
    );
  });

  test('twelve months sum to the year: prices and calls, to the cent', () => {
    fc.assert(
      fc.property(
        terms,
        fc.integer({ min: 2024, max: 2032 }),
        fc.array(fc.nat({ max: 3_000_000 }), { minLength: 12, maxLength: 12 }),
        (held, year, counts) => {
          let sum = 0;
          let beyond = 0;
          for (const [index, count] of counts.entries()) {
            const period = `${year}-${String(index + 1).padStart(2, '0')}`;
            const usage = count === 0 ? [] : [{ day: 28, platform: 'email', calls: count }];
            sum += month(period, held, usage).totalCents;
            const over = held.overageCentsPer1000 === 0 ? 0 : Math.max(count - held.includedCalls, 0);
            beyond += Math.round((over * held.overageCentsPer1000) / 1000);
          }
          expect(sum).toBe(12 * held.priceCents + beyond);
        },
      ),
    );
  });

  test('one more call never costs less, nor more than its rate rounded up', () => {
    fc.assert(
      fc.property(anyMonth, fc.nat(), (input, pick) => {
        fc.pre(input.usage.length > 0);
        const last = Math.max(...input.usage.map(({ day }) => day));
        const index = input.usage.findIndex(({ day }) => day === last);
        const more = input.usage.map((entry, at) =>
          at === index ? { ...entry, calls: entry.calls + 1 + (pick % 2) } : entry,
        );
        const added = price({ ...input, usage: more }).totalCents - price(input).totalCents;
        const rate = Math.max(...input.days.map(({ terms: held }) => held.overageCentsPer1000));
        expect(added).toBeGreaterThanOrEqual(0);
        expect(added).toBeLessThanOrEqual(Math.ceil((2 * rate) / 1000));
      }),
    );
  });

  test('the order in which usage arrives changes nothing', () => {
    fc.assert(
      fc.property(anyMonth, (input) => {
        expect(price({ ...input, usage: input.usage.toReversed() }).totalCents).toBe(price(input).totalCents);
      }),
    );
  });

  test('a split sums to the whole, and each part is its share rounded down or up', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 15n }),
        fc.array(fc.bigInt({ min: 0n, max: 10n ** 12n }), { minLength: 1, maxLength: 12 }),
        (total, weights) => {
          const sum = weights.reduce((left, right) => left + right, 0n);
          fc.pre(sum > 0n);
          const parts = apportion(total, weights);
          expect(parts.reduce((left, right) => left + right, 0n)).toBe(total);
          for (const [index, part] of parts.entries()) {
            const exact = (total * (weights[index] as bigint)) / sum;
            expect(part === exact || part === exact + 1n).toBe(true);
          }
        },
      ),
    );
  });

  test('what is left over goes to the largest remainders, and among equal ones to the first', () => {
    expect(apportion(10n, [5n, 3n, 3n])).toEqual([4n, 3n, 3n]);
    expect(apportion(2n, [1n, 1n, 1n])).toEqual([1n, 1n, 0n]);
    expect(apportion(0n, [0n, 0n])).toEqual([0n, 0n]);
    expect(() => apportion(1n, [0n])).toThrow(RangeError);
  });
});
