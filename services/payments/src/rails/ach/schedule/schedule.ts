import { addBankingDays } from '../../../clock/banking-days.ts';
import { type CivilDate, fromNewYork, toNewYork } from '../../../clock/new-york.ts';
import type { AchLeg } from '../entries/entry.ts';
import { type AchScope, isCompressed } from '../entries/scope.ts';
import { type AchTerms, DEFAULT_ACH_TERMS } from './terms.ts';
import { type AchWindow, nextWindow } from './windows.ts';

/** When entries leave and settle, by the calendar or, in a sandbox without a clock, at a set pace. */

const MINUTE_MS = 60_000;

export interface Pace {
  terms: AchTerms;
  /** How long a payment takes from end to end where windows do not wait. */
  sandboxMs: number;
}

export function createPace(sandboxMs: number, terms: AchTerms = DEFAULT_ACH_TERMS): Pace {
  return { terms, sandboxMs };
}

export interface EntryTimes {
  dueAt: Date;
  settlesAt: Date;
  /** When its money counts: a debit's after its ordinary returns, any other entry's at settlement. */
  goodAt: Date;
}

/** Which entries carry a payment; with both, the credit follows when the debit is good. */
export type LegPlan = 'debit' | 'credit' | 'debit_then_credit';

export interface TimesQuestion {
  scope: AchScope;
  /** From when on the entry may leave. */
  from: Date;
  amount: number;
  sameDay: boolean;
  leg: AchLeg;
  legs: LegPlan;
}

export function timesOf(question: TimesQuestion, pace: Pace): EntryTimes {
  const { scope, from, amount, sameDay, leg, legs } = question;
  if (isCompressed(scope)) {
    // Two entries share the time of the whole way, and holds take none of it.
    const settlesAt = later(from, legs === 'debit_then_credit' ? pace.sandboxMs / 2 : pace.sandboxMs);
    return { dueAt: from, settlesAt, goodAt: settlesAt };
  }
  const window = nextWindow({ now: from, amountCents: amount, sameDay, terms: pace.terms });
  const { deadline: dueAt, settlesAt } = window;
  return { dueAt, settlesAt, goodAt: goodAtOf(leg, settlesAt, pace.terms) };
}

export function goodAtOf(leg: AchLeg, settlesAt: Date, terms: AchTerms): Date {
  return leg === 'debit' ? debitIsGoodAt(settlesAt, terms) : settlesAt;
}

const STRIDES_PER_WAY = 8;

/**
 * As of when something is done where windows do not wait. Who was held up catches up in order, or a late return would overtake the
 * payment that it returns; in strides much shorter than the way, because a file for every millisecond would be too many.
 */
export function sharedMoment(due: Date, { until, sandboxMs }: { until: Date; sandboxMs: number }): Date {
  const strideMs = Math.max(1, Math.floor(sandboxMs / STRIDES_PER_WAY));
  return new Date(Math.min(until.getTime(), Math.ceil(due.getTime() / strideMs) * strideMs));
}

function later(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms);
}

/** When a settled debit's money may be handed on: the time for its ordinary returns is over. */
export function debitIsGoodAt(settlesAt: Date, terms: AchTerms): Date {
  if (terms.debitHoldBankingDays === 0) return settlesAt;
  const { date } = toNewYork(settlesAt);
  return fromNewYork(addBankingDays(date, terms.debitHoldBankingDays), terms.returnsOpenAt);
}

/** Whether the network's own deadline has passed for a file that should have left at `dueAt`. */
export function isWindowMissed(dueAt: Date, now: Date, terms: AchTerms): boolean {
  return now.getTime() >= dueAt.getTime() + terms.marginMinutes * MINUTE_MS;
}

/** What a file that reaches the bank at `at`, after the deadline it was meant for, can still have. */
export function settlesAfterLateArrival(
  entry: { amount: number; sameDay: boolean },
  at: Date,
  terms: AchTerms,
): Date {
  return nextWindow({ now: at, amountCents: entry.amount, sameDay: entry.sameDay, marginMinutes: 0, terms })
    .settlesAt;
}

export interface FileDates {
  effectiveDate: CivilDate;
  /** Marks a same-day batch. */
  descriptiveDate: string;
}

/** What the batch header says of an entry that leaves as of `asOf`. */
export function fileDatesOf(
  entry: Pick<EntryTimes, 'dueAt' | 'settlesAt'> & { scope: AchScope; amount: number; sameDay: boolean },
  asOf: Date,
  terms: AchTerms,
): FileDates {
  if (isCompressed(entry.scope)) return datesOfHurriedFile(entry, asOf, terms);
  const { date: effectiveDate, time } = toNewYork(entry.settlesAt);
  const isSameDay = toNewYork(entry.dueAt).date === effectiveDate;
  return { effectiveDate, descriptiveDate: isSameDay ? `SD${time.replace(':', '')}` : '' };
}

/** The sandbox does not wait for windows, but its files say what they would say at any bank. */
function datesOfHurriedFile(
  { amount, sameDay }: { amount: number; sameDay: boolean },
  asOf: Date,
  terms: AchTerms,
): FileDates {
  const question = { now: asOf, amountCents: amount, terms };
  const wanted = nextWindow({ ...question, sameDay });
  // The next same-day window may be on another day, but the file leaves now.
  const isOpen = wanted.sameDay && wanted.effectiveDate === toNewYork(asOf).date;
  return isOpen ? wanted : nextWindow({ ...question, sameDay: false });
}

export interface Forecast {
  settlesAt: Date;
}

interface ForecastQuestion {
  legs: LegPlan;
  sameDay: boolean;
}

interface Slot extends Forecast {
  from: Date;
  until: Date;
}

/**
 * When a payment accepted at some time would settle. Every accepted payment asks, and the answer stays the same until
 * the file of its first leg leaves, so the last answer to each question is kept.
 */
export class Forecasts {
  readonly #slots = new Map<string, Slot>();
  readonly #terms: AchTerms;

  constructor(terms: AchTerms) {
    this.#terms = terms;
  }

  at(at: Date, question: ForecastQuestion): Forecast {
    const key = `${question.legs} ${question.sameDay}`;
    const kept = this.#slots.get(key);
    if (kept && kept.from <= at && at < kept.until) return kept;
    const slot = this.#compute(at, question);
    this.#slots.set(key, slot);
    return slot;
  }

  #compute(at: Date, { legs, sameDay }: ForecastQuestion): Slot {
    const first = this.#window(at, sameDay);
    const slot = { from: at, until: first.deadline, settlesAt: first.settlesAt };
    if (legs === 'credit') return slot;
    const goodAt = debitIsGoodAt(first.settlesAt, this.#terms);
    if (legs === 'debit') return { ...slot, settlesAt: goodAt };
    return { ...slot, settlesAt: this.#window(goodAt, sameDay).settlesAt };
  }

  #window(now: Date, sameDay: boolean): AchWindow {
    return nextWindow({ now, amountCents: 0, sameDay, terms: this.#terms });
  }
}
