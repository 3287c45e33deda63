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

interface Version {
  from: number;
  plan: Plan;
}

/** A customer call by call, written from the rules of the invoice and not from its code. */
export class CapModel {
  capCents: number | null = null;
  monthlyCalls: number | null = null;
  readonly #held: { from: number; id: string }[];
  /** What operators made of the plans, in order. */
  readonly #versions: Version[] = MODEL_PLANS.map((each) => ({ from: 0, plan: each }));
  /** Of each call that was kept, the day on which it began. */
  readonly #calls: number[] = [];
  readonly #now: () => Date;

  constructor(planId: string, now: () => Date) {
    this.#held = [{ from: 0, id: planId }];
    this.#now = now;
  }

  /** As it is offered now. */
  get present(): Plan {
    return this.#versionAt(this.#segment.id, this.#now().getTime());
  }

  /** What the invoice of the month counts as included under the plan of now. */
  get included(): number {
    return this.#terms.includedCalls;
  }

  get used(): number {
    return this.#callsOfMonth().length;
  }

  get overageMillicents(): number {
    return this.#priceOf(this.#callsOfMonth());
  }

  change(planId: string): void {
    if (planId !== this.#segment.id) this.#held.push({ from: this.#now().getTime(), id: planId });
  }

  /** By an operator. */
  edit(edited: Plan): void {
    this.#versions.push({ from: this.#now().getTime(), plan: edited });
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

  get #segment(): { from: number; id: string } {
    return this.#held.at(-1) as { from: number; id: string };
  }

  /** By which the month is priced under the plan of now. */
  get #terms(): Plan {
    const { from, id } = this.#segment;
    return this.#versionAt(id, Math.max(from, this.#month().start));
  }

  #versionAt(planId: string, moment: number): Plan {
    const ofPlan = this.#versions.filter(({ plan: { id } }) => id === planId);
    return (ofPlan.findLast(({ from }) => from <= moment) as Version).plan;
  }

  #allowsAfter(calls: readonly number[]): boolean {
    const limit = this.monthlyCalls ?? this.#stopsAt();
    if (calls.length >= Math.min(limit, this.#presentCap())) return false;
    const before = this.#priceOf(calls);
    const after = this.#priceOf([...calls, dayStart(this.#now())]);
    if (after === before || this.capCents === null) return true;
    return this.#plansCents() * 1000 + after <= this.capCents * 1000;
  }

  /** At the present number, at once; what was made to go on at a price stops until the month is priced so. */
  #stopsAt(): number {
    if (this.present.hardStop) return this.present.includedCalls;
    if (this.#terms.hardStop && this.present.overageCentsPer1000 > 0)
      return Math.max(this.#terms.includedCalls, this.present.includedCalls);
    return Number.POSITIVE_INFINITY;
  }

  /** What the cap would allow if the month had had the present plan alone: its limit holds at once. */
  #presentCap(): number {
    const { includedCalls, priceCents } = this.#terms;
    const rate = rateOf(this.#terms);
    if (this.capCents === null || rate === 0) return Number.POSITIVE_INFINITY;
    return includedCalls + Math.floor((Math.max(this.capCents - priceCents, 0) * 1000) / rate);
  }

  #callsOfMonth(): number[] {
    const { start } = this.#month();
    return this.#calls.filter((day) => day >= start).sort((a, b) => a - b);
  }

  #priceOf(calls: readonly number[]): number {
    return calls.reduce((sum, day, index) => {
      const terms = this.#termsOn(day);
      return sum + (index >= terms.includedCalls ? rateOf(terms) : 0);
    }, 0);
  }

  #plansCents(): number {
    const { start, end } = this.#month();
    const days: Plan[] = [];
    for (let day = start; day < end; day += DAY_MS) days.push(this.#termsOn(day));
    // Terms that an edit left as they were are one line of the invoice.
    const lines = Map.groupBy(days, (terms) =>
      JSON.stringify([terms.id, terms.priceCents, terms.includedCalls, rateOf(terms)]),
    );
    const byDays = [...lines.values()].map((ofLine) =>
      Math.floor(((ofLine[0] as Plan).priceCents * ofLine.length) / days.length),
    );
    const sum = byDays.reduce((total, cents) => total + cents, 0);
    return Math.max(this.#terms.priceCents, sum);
  }

  #termsOn(day: number): Plan {
    const { start } = this.#month();
    const onDay = this.#held.filter(({ from }, index) => {
      const until = this.#held[index + 1]?.from ?? Number.POSITIVE_INFINITY;
      return from < day + DAY_MS && until > day;
    });
    return onDay
      .map(({ from, id }) => this.#versionAt(id, Math.max(from, start)))
      .reduce((best, next) => (next.priceCents >= best.priceCents ? next : best));
  }

  #month(): { start: number; end: number } {
    const [year, month] = [this.#now().getUTCFullYear(), this.#now().getUTCMonth()];
    return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) };
  }
}

/** Beyond a plan that stops nothing is charged. */
const rateOf = ({ hardStop, overageCentsPer1000 }: Plan) => (hardStop ? 0 : overageCentsPer1000);
const dayStart = (moment: Date) => Math.floor(moment.getTime() / DAY_MS) * DAY_MS;
