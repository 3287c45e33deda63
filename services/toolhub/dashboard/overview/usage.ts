import { FOLLOW_MS, useObject } from '../api/client.ts';

export interface UsageGroup {
  key: string;
  calls: number;
  errors: number;
  p50_ms: number | null;
  p95_ms: number | null;
}

export interface Usage {
  from: string;
  to: string;
  data: UsageGroup[];
  total: number;
}

export interface PlanState {
  plan: string;
  limit: number;
  stops_at_limit: boolean;
  used: number;
  remaining: number;
  resets_at: string;
  spend_cap_cents: number | null;
}

export type RangeDays = '7' | '30' | '90' | '365';
export const RANGES: readonly RangeDays[] = ['7', '30', '90', '365'];

const DAY_MS = 24 * 60 * 60 * 1000;
const shortDay = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' });
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Days in UTC, as usage is counted; the range ends with today. */
export function rangeOf(days: RangeDays, now = Date.now()): { from: string; to: string } {
  return { from: dayOf(now - (Number(days) - 1) * DAY_MS), to: dayOf(now + DAY_MS) };
}

/** Sums over many days, which a call more hardly changes. */
const USAGE_FOLLOW_MS = 30_000;

export function useUsage(
  days: RangeDays,
  group: 'platform' | 'day' | 'tool',
  refetchMs: number | ((usage: Usage) => number | false) = USAGE_FOLLOW_MS,
) {
  return useObject<Usage>('/api/usage', { query: { ...rangeOf(days), group }, refetchMs });
}

/** For whoever waits for the first call. */
export const untilCalled = ({ total }: Usage) => (total === 0 ? USAGE_FOLLOW_MS : false);

export const usePlan = () => useObject<PlanState>('/api/plan', { refetchMs: FOLLOW_MS });

export interface DayOfCalls {
  /** Such as 2026-11-14. */
  date: string;
  /** The same beside a bar. */
  day: string;
  /** Those that succeeded. */
  calls: number;
  errors: number;
}

/** Every day of the range has its bar, also those without a call. */
export function everyDay(usage: Usage): DayOfCalls[] {
  const known = new Map(usage.data.map((group) => [group.key, group]));
  const days: DayOfCalls[] = [];
  for (let ms = Date.parse(usage.from); ms < Date.parse(usage.to); ms += DAY_MS) {
    const date = dayOf(ms);
    const { calls = 0, errors = 0 } = known.get(date) ?? {};
    days.push({ date, day: shortDay.format(ms), calls: calls - errors, errors });
  }
  return days;
}

/** What the month will come to if it goes on as it went so far: the month that was read, which may have ended since. */
export function forecastOf(plan: PlanState, now = new Date()): number {
  const end = new Date(plan.resets_at);
  const start = Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 1, 1);
  const whole = end.getTime() - start;
  const passed = Math.min(Math.max(now.getTime() - start, DAY_MS), whole);
  return Math.round((plan.used / passed) * whole);
}
