import type { Plan } from '../plan.ts';

const DAY_MS = 24 * 60 * 60_000;

const plan = (id: string, priceCents: number, includedCalls: number, overageCentsPer1000: number): Plan => ({
  ...{ id, name: id, priceCents, includedCalls, overageCentsPer1000, hardStop: false },
});

/** So small that a few calls go beyond each, and of all kinds: dearer ones that include less, equal prices, no price for calls, or one that nobody pays. */
export const MODEL_PLANS: readonly Plan[] = [
  plan('small', 300, 3, 1_000),
  plan('large', 900, 9, 400),
  plan('large_too', 900, 2, 2_500),
  plan('flat', 600, 6, 0),
  { ...plan('closed', 0, 5, 700), hardStop: true },
];

const planOf = (id: string) => MODEL_PLANS.find((each) => each.id === id) as Plan;

/** A customer call by call, written from the rules of the invoice and not from its code. */
export class CapModel {
  capCents: number | null = null;
  monthlyCalls: number | null = null;
  readonly #held: { from: number; plan: Plan }[];
  /** Of each call that was kept, the day on which it began. */
  readonly #calls: number[] = [];
  readonly #now: () => Date;

  constructor(planId: string, now: () => Date) {
    this.#held = [{ from: 0, plan: planOf(planId) }];
    this.#now = now;
  }

  get present(): Plan {
    return (this.#held.at(-1) as { plan: Plan }).plan;
  }

  get used(): number {
    return this.#callsOfMonth().length;
  }

  get overageMillicents(): number {
    return this.#priceOf(this.#callsOfMonth());
  }

  change(planId: string): void {
    if (planId !== this.present.id) this.#held.push({ from: this.#now().getTime(), plan: planOf(planId) });
  }

  keep(calls: number, at = this.#now()): void {
    this.#calls.push(...Array.from({ length: calls }, () => dayStart(at)));
  }

  /** How many more calls pass today, up to a bound. */
  allowedMore(max: number): number {
    const calls = this.#callsOfMonth();
    let allowed = 0;
    while (allowed < max && this.#allowsAfter(calls)) {
      calls.push(dayStart(this.#now()));
      allowed += 1;
    }
    return allowed;
  }

  #allowsAfter(calls: readonly number[]): boolean {
    const { hardStop, includedCalls } = this.present;
    const limit = this.monthlyCalls ?? (hardStop ? includedCalls : Number.POSITIVE_INFINITY);
    if (calls.length >= Math.min(limit, this.#presentCap())) return false;
    const before = this.#priceOf(calls);
    const after = this.#priceOf([...calls, dayStart(this.#now())]);
    if (after === before || this.capCents === null) return true;
    return this.#plansCents() * 1000 + after <= this.capCents * 1000;
  }

  /** What the cap would allow if the month had had the present plan alone: its limit holds at once. */
  #presentCap(): number {
    const { hardStop, includedCalls, priceCents, overageCentsPer1000 } = this.present;
    if (hardStop || this.capCents === null || overageCentsPer1000 === 0) return Number.POSITIVE_INFINITY;
    return includedCalls + Math.floor((Math.max(this.capCents - priceCents, 0) * 1000) / overageCentsPer1000);
  }

  #callsOfMonth(): number[] {
    const { start } = this.#month();
    return this.#calls.filter((day) => day >= start).sort((a, b) => a - b);
  }

  #priceOf(calls: readonly number[]): number {
    return calls.reduce((sum, day, index) => {
      const { hardStop, includedCalls, overageCentsPer1000 } = this.#planOn(day);
      return sum + (index >= includedCalls && !hardStop ? overageCentsPer1000 : 0);
    }, 0);
  }

  #plansCents(): number {
    const { start, end } = this.#month();
    const days: Plan[] = [];
    for (let day = start; day < end; day += DAY_MS) days.push(this.#planOn(day));
    const byDays = [...new Set(days)].map(({ id, priceCents }) =>
      Math.floor((priceCents * days.filter((each) => each.id === id).length) / days.length),
    );
    const sum = byDays.reduce((total, cents) => total + cents, 0);
    return Math.max(this.present.priceCents, sum);
  }

  #planOn(day: number): Plan {
    const onDay = this.#held.filter(({ from }, index) => {
      const until = this.#held[index + 1]?.from ?? Number.POSITIVE_INFINITY;
      return from < day + DAY_MS && until > day;
    });
    return onDay
      .map((each) => each.plan)
      .reduce((best, next) => (next.priceCents >= best.priceCents ? next : best));
  }

  #month(): { start: number; end: number } {
    const [year, month] = [this.#now().getUTCFullYear(), this.#now().getUTCMonth()];
    return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) };
  }
}

const dayStart = (moment: Date) => Math.floor(moment.getTime() / DAY_MS) * DAY_MS;
