import type { InvoiceLine } from '../invoice.ts';
import { formatCents } from '../money.ts';
import { daysIn, type Period, periodTitle } from '../period.ts';
import { apportion } from './apportion.ts';

/*
 * What a month costs. Pure: the same input gives the same lines, to the cent, however often it is asked.
 *
 * - A plan's price is charged by days: the cents of each plan are its price times its days over those of the month,
 *   rounded down, so that no mixture of plans costs more than a full month of the dearest.
 * - Calls count through the month whatever the plan: the limit of a new plan holds at once. A call is included while
 *   the month's count is within what the plan of its day includes; beyond that it costs that plan's rate.
 * - The overage of the month is rounded to a cent once and then split over the lines, so that they sum to it.
 */

export interface PlanTerms {
  plan: string;
  name: string;
  priceCents: number;
  includedCalls: number;
  /** 0 for plans that stop at their limit: what an admin lets through beyond it is free. */
  overageCentsPer1000: number;
}

/** The terms that hold on one day of the month, counted from 1. */
export interface DayTerms {
  day: number;
  terms: PlanTerms;
}

export interface DayUsage {
  day: number;
  platform: string;
  calls: number;
}

export interface MonthInput {
  period: Period;
  /** One entry for each day on which the customer existed, in order; at least one. */
  days: readonly DayTerms[];
  usage: readonly DayUsage[];
  platformTitle: (platform: string) => string;
}

export interface PricedMonth {
  lines: InvoiceLine[];
  totalCents: number;
}

const CALLS_PER_RATE = 1000n;

export function priceMonth(input: MonthInput): PricedMonth {
  const lines = [...planLines(input), ...callLines(input)];
  const totalCents = lines.reduce((sum, { amountCents }) => sum + amountCents, 0);
  if (!Number.isSafeInteger(totalCents)) throw new RangeError('a total beyond what a number holds exactly');
  return { lines, totalCents };
}

/** Never more than the price: the part of a month is rounded down. */
export function prorate(priceCents: number, part: { days: number; of: number }): number {
  return Number((BigInt(priceCents) * BigInt(part.days)) / BigInt(part.of));
}

export function planLines({ period, days }: Pick<MonthInput, 'period' | 'days'>): InvoiceLine[] {
  const of = daysIn(period);
  return [...Map.groupBy(days, ({ terms }) => termsKey(terms)).values()].map((group) => {
    const { terms } = group[0] as DayTerms;
    const extent = group.length === of ? periodTitle(period) : `${group.length} of ${of} days`;
    return {
      platform: null,
      description: `${terms.name} plan, ${extent}`,
      quantity: 1,
      amountCents: prorate(terms.priceCents, { days: group.length, of }),
    };
  });
}

interface Overage {
  platform: string;
  terms: PlanTerms;
  calls: number;
}

function callLines({ days, usage, platformTitle }: MonthInput): InvoiceLine[] {
  const { included, overage } = walkMonth(days, usage);
  const charges = chargeOverage(overage);
  return [...new Set(usage.map(({ platform }) => platform))].sort().flatMap((platform) => {
    const title = platformTitle(platform);
    const lines: InvoiceLine[] = [];
    const calls = included.get(platform) ?? 0;
    if (calls > 0)
      lines.push({
        platform,
        description: `${title}: calls included`,
        quantity: calls,
        amountCents: 0,
      });
    for (const charge of charges.filter((candidate) => candidate.platform === platform))
      lines.push({
        platform,
        description: `${title}: calls beyond the ${charge.terms.name} plan, ${formatCents(charge.terms.overageCentsPer1000)} per 1,000`,
        quantity: charge.calls,
        amountCents: charge.amountCents,
      });
    return lines;
  });
}

/** Goes through the month day by day, with the count of its calls. */
export function walkMonth(
  days: readonly DayTerms[],
  usage: readonly DayUsage[],
): { included: Map<string, number>; overage: Overage[] } {
  const included = new Map<string, number>();
  const overage = new Map<string, Overage>();
  let counted = 0;
  for (const [day, entries] of [...Map.groupBy(usage, ({ day: number }) => number)].sort(
    ([a], [b]) => a - b,
  )) {
    const terms = termsOf(days, day);
    const calls = entries.reduce((sum, entry) => sum + entry.calls, 0);
    const room = terms.overageCentsPer1000 === 0 ? calls : Math.max(terms.includedCalls - counted, 0);
    const within = Math.min(calls, room);
    const shares = apportion(
      BigInt(within),
      entries.map((entry) => BigInt(entry.calls)),
    );
    for (const [index, entry] of entries.entries()) {
      const share = Number(shares[index]);
      included.set(entry.platform, (included.get(entry.platform) ?? 0) + share);
      addOverage(overage, { platform: entry.platform, terms, calls: entry.calls - share });
    }
    counted += calls;
  }
  return { included, overage: [...overage.values()] };
}

/** A call on a day that has no terms, because clocks differ, is priced like the nearest day that has. */
export function termsOf(days: readonly DayTerms[], day: number): PlanTerms {
  const found = days.findLast((candidate) => candidate.day <= day) ?? days[0];
  if (found === undefined) throw new RangeError('a month without a day cannot be priced');
  return found.terms;
}

function addOverage(sums: Map<string, Overage>, added: Overage): void {
  if (added.calls === 0) return;
  const key = `${added.platform}\n${termsKey(added.terms)}`;
  const sum = sums.get(key);
  if (sum === undefined) sums.set(key, { ...added });
  else sum.calls += added.calls;
}

function chargeOverage(overage: readonly Overage[]): (Overage & { amountCents: number })[] {
  const exact = overage.map(({ calls, terms }) => BigInt(calls) * BigInt(terms.overageCentsPer1000));
  const sum = exact.reduce((left, right) => left + right, 0n);
  const cents = apportion((sum + CALLS_PER_RATE / 2n) / CALLS_PER_RATE, exact);
  return overage.map((entry, index) => ({ ...entry, amountCents: Number(cents[index]) }));
}

/** Days under one plan at one price are one line, however often the customer went to and fro. */
function termsKey(terms: PlanTerms): string {
  return JSON.stringify([
    terms.plan,
    terms.name,
    terms.priceCents,
    terms.includedCalls,
    terms.overageCentsPer1000,
  ]);
}
