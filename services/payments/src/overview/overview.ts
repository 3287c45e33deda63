import type { PaymentStatus } from '../payments/states.ts';
import type { RailId } from '../rails/rail-ids.ts';

/** Payments that were accepted in one hour, over one rail, and are in one state now. */
export interface Figure {
  hour: Date;
  rail: RailId;
  status: PaymentStatus;
  payments: number;
  amount: number;
}

/** How many payments took about as long to complete. */
export interface SettleTime {
  step: number;
  payments: number;
}

/** What somebody should look at. */
export interface Attention {
  failedDeliveries: number;
  disabledEndpoints: number;
  owed: number;
}

interface Count {
  payments: number;
  amount: number;
}

export interface Overview {
  payments: number;
  /** Of what completed. */
  volume: number;
  successRate: number | null;
  settleSecondsMedian: number | null;
  settleSecondsP95: number | null;
  byStatus: (Count & { status: PaymentStatus })[];
  byRail: (Count & { rail: RailId })[];
  /** Every day of the time, also those without a payment; the amount is what completed. */
  byDay: (Count & { day: string })[];
}

export interface Span {
  from: Date;
  to: Date;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Whole hours around a time: figures are kept by the hour. */
export function wholeHours({ from, to }: Span): Span {
  return {
    from: new Date(Math.floor(from.getTime() / HOUR_MS) * HOUR_MS),
    to: new Date(Math.ceil(to.getTime() / HOUR_MS) * HOUR_MS),
  };
}

/** Today and the days before it, of UTC: as many as are drawn. This moment is part of them: a frozen clock often shows a full hour. */
export function lastDays(now: Date, days: number): Span {
  return { from: new Date(Date.parse(dayOf(now)) - (days - 1) * DAY_MS), to: new Date(now.getTime() + 1) };
}

/** Steps per doubling of the time: what is told lies within a tenth of what it was. */
export const STEPS_PER_DOUBLING = 4;

/** The time in the middle of a step. */
function secondsOf(step: number): number {
  return 2 ** ((step + 0.5) / STEPS_PER_DOUBLING) / 1_000;
}

/** The time within which this share of the payments completed; null where none did. */
function quantile(times: readonly SettleTime[], share: number): number | null {
  const total = times.reduce((sum, { payments }) => sum + payments, 0);
  let counted = 0;
  for (const { step, payments } of times.toSorted((a, b) => a.step - b.step)) {
    counted += payments;
    if (payments > 0 && counted >= total * share) return secondsOf(step);
  }
  return null;
}

function countBy<Key>(figures: readonly Figure[], keyOf: (figure: Figure) => Key): Map<Key, Count> {
  const counts = new Map<Key, Count>();
  for (const figure of figures) {
    const count = counts.get(keyOf(figure)) ?? { payments: 0, amount: 0 };
    count.payments += figure.payments;
    count.amount += figure.amount;
    counts.set(keyOf(figure), count);
  }
  return counts;
}

const isCompleted = ({ status }: Figure) => status === 'completed';
const dayOf = (at: Date) => at.toISOString().slice(0, 10);

export function overviewOf(
  figures: readonly Figure[],
  times: readonly SettleTime[],
  { from, to }: Span,
): Overview {
  const byStatus = countBy(figures, ({ status }) => status);
  const completed = byStatus.get('completed') ?? { payments: 0, amount: 0 };
  const ended = (['completed', 'failed', 'returned'] as const).reduce(
    (sum, status) => sum + (byStatus.get(status)?.payments ?? 0),
    0,
  );
  const payments = countBy(figures, ({ hour }) => dayOf(hour));
  const volumes = countBy(figures.filter(isCompleted), ({ hour }) => dayOf(hour));
  const days: string[] = [];
  for (let at = Date.parse(dayOf(from)); at < to.getTime(); at += DAY_MS) days.push(dayOf(new Date(at)));
  return {
    payments: figures.reduce((sum, figure) => sum + figure.payments, 0),
    volume: completed.amount,
    successRate: ended === 0 ? null : completed.payments / ended,
    settleSecondsMedian: quantile(times, 0.5),
    settleSecondsP95: quantile(times, 0.95),
    byStatus: [...byStatus].map(([status, count]) => ({ status, ...count })),
    byRail: [...countBy(figures, ({ rail }) => rail)].map(([rail, count]) => ({ rail, ...count })),
    byDay: days.map((day) => ({
      day,
      payments: payments.get(day)?.payments ?? 0,
      amount: volumes.get(day)?.amount ?? 0,
    })),
  };
}
