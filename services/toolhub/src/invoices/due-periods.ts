import type { Queryable } from '@libs/db';
import { type Period, periodBefore, periodOf, periodsUpTo } from './period.ts';
import { listFinished } from './run-store.ts';

/**
 * The month before, and those before it that no run went through: also where an admin ran a later one by hand, or one was
 * left with failures. They begin behind the first month that was ever finished, and where none was, with the first customer.
 */
export async function listDuePeriods(
  db: Queryable,
  {
    at,
    monthsMax,
    firstCustomerAt,
  }: { at: Date; monthsMax: number; firstCustomerAt: () => Promise<Date | undefined> },
): Promise<Period[]> {
  const last = periodBefore(at);
  const recent = periodsUpTo(last, monthsMax);
  const finished = await listFinished(db, recent[0] ?? last);
  const [firstFinished] = finished;
  if (firstFinished !== undefined)
    return recent.filter(
      (period) => period === last || (period > firstFinished && !finished.includes(period)),
    );
  const begin = periodOf((await firstCustomerAt()) ?? at);
  return recent.filter((period) => period === last || period >= begin);
}
