import type { CapReckoning } from '../../billing/plan.ts';
import { type MonthInput, type PlanTerms, planLines, termsOf, walkMonth } from './pricing.ts';

interface CapInput extends Pick<MonthInput, 'period' | 'days' | 'usage'> {
  /** The day whose calls are to be let through; `usage` is that of the days before it. */
  day: number;
  /** Of the plan that the customer has now. */
  present: PlanTerms;
}

const MILLICENTS_PER_CENT = 1000n;

/**
 * What a spend cap has to pay for on a day, so that it closes the gate where the invoice would pass it. The plans cost what their
 * lines will say if the present one stays, and at least its full price, as in a month that it had for itself.
 */
export function reckonCap({ period, days, usage, day, present }: CapInput): CapReckoning {
  const terms = termsOf(days, day);
  const counted = usage.reduce((sum, { calls }) => sum + calls, 0);
  const byDays = planLines({ period, days }).reduce((sum, { amountCents }) => sum + amountCents, 0);
  const plansCents = Math.max(present.priceCents, byDays);
  const overageMillicents = walkMonth(days, usage).overage.reduce(
    (sum, { calls, terms: { overageCentsPer1000 } }) => sum + BigInt(calls) * BigInt(overageCentsPer1000),
    0n,
  );
  const spent = BigInt(plansCents) * MILLICENTS_PER_CENT + overageMillicents;
  return {
    plan: terms.plan,
    freeCalls: Math.max(terms.includedCalls, counted),
    overageCentsPer1000: terms.overageCentsPer1000,
    // No cap reaches as far as what a number holds exactly.
    spentMillicents: Math.min(Number(spent), Number.MAX_SAFE_INTEGER),
  };
}
