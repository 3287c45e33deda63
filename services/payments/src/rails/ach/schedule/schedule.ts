import { addBankingDays } from '../../../clock/banking-days.ts';
import { type CivilDate, fromNewYork, toNewYork } from '../../../clock/new-york.ts';
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
}

export interface TimesQuestion {
  scope: AchScope;
  /** From when on the entry may leave. */
  from: Date;
  amount: number;
  sameDay: boolean;
  /** How many legs share the way. */
  legs: 1 | 2;
}

export function timesOf(question: TimesQuestion, pace: Pace): EntryTimes {
  const { scope, from, amount, sameDay, legs } = question;
  if (isCompressed(scope)) return { dueAt: from, settlesAt: later(from, pace.sandboxMs / legs) };
  const window = nextWindow({ now: from, amountCents: amount, sameDay, terms: pace.terms });
  return { dueAt: window.deadline, settlesAt: window.settlesAt };
}

function later(at: Date, ms: number): Date {
  return new Date(at.getTime() + ms);
}

/** When the credit of a payment may follow its debit. */
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
  entry: EntryTimes & { scope: AchScope; amount: number; sameDay: boolean },
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
  /** Whether any leg gets a window of the same day. */
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

  at(at: Date, question: { legs: 1 | 2; sameDay: boolean }): Forecast {
    const key = `${question.legs} ${question.sameDay}`;
    const kept = this.#slots.get(key);
    if (kept && kept.from <= at && at < kept.until) return kept;
    const slot = this.#compute(at, question);
    this.#slots.set(key, slot);
    return slot;
  }

  #compute(at: Date, { legs, sameDay }: { legs: 1 | 2; sameDay: boolean }): Slot {
    const first = this.#window(at, sameDay);
    const slot = { from: at, until: first.deadline, settlesAt: first.settlesAt, sameDay: first.sameDay };
    if (legs === 1) return slot;
    const second = this.#window(debitIsGoodAt(first.settlesAt, this.#terms), sameDay);
    return { ...slot, settlesAt: second.settlesAt, sameDay: first.sameDay || second.sameDay };
  }

  #window(now: Date, sameDay: boolean): AchWindow {
    return nextWindow({ now, amountCents: 0, sameDay, terms: this.#terms });
  }
}
