import type { Queryable } from '@libs/db';
import { type Period, periodBefore, periodsUpTo } from './period.ts';
import { listFinished } from './run-store.ts';

/**
 * The month before, and those before it that no run went through: also where an admin ran a later one by hand, or one was
 * left with failures. What lies before the first month that was ever finished is from before this service made invoices.
 */
export async function listDuePeriods(
  db: Queryable,
  { at, monthsMax }: { at: Date; monthsMax: number },
): Promise<Period[]> {
  const last = periodBefore(at);
  const recent = periodsUpTo(last, monthsMax);
  const finished = await listFinished(db, recent[0] ?? last);
  const first = finished[0] ?? last;
  return recent.filter((period) => period === last || (period > first && !finished.includes(period)));
}
