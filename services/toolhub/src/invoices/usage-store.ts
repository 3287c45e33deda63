import type { Queryable } from '@libs/db';
import type { DayUsage } from './prices/pricing.ts';

/** Which calls are to be charged; `to` is not part of the range. */
export interface ChargedCallsQuery {
  customerIds: readonly string[];
  from: string;
  to: string;
}

export interface CustomerUsage extends DayUsage {
  customerId: string;
}

/** Whether a call of the customer holds a unit of which nobody knows yet whether it is kept. */
export async function hasCallsUnderWay(db: Queryable, customerId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    'select 1 from usage_reservations where customer_id = $1 and units > 0 limit 1',
    [customerId],
  );
  return rowCount > 0;
}

/** Which of the customers have a call of the month (its first day) that holds a unit still. */
export async function findCalling(
  db: Queryable,
  query: { customerIds: readonly string[]; month: string },
): Promise<Set<string>> {
  const { rows } = await db.query<{ customer_id: string }>(
    'select distinct customer_id from usage_reservations where customer_id = any($1) and month = $2 and units > 0',
    [query.customerIds, query.month],
  );
  return new Set(rows.map((row) => row.customer_id));
}

/** Calls that cost a unit, by day and platform. */
export async function readUsage(db: Queryable, query: ChargedCallsQuery): Promise<CustomerUsage[]> {
  const { rows } = await db.query<{ customer_id: string; day: number; platform: string; calls: number }>(
    `select customer_id, extract(day from day)::int as day, platform, sum(calls - given_back)::bigint as calls
     from usage_daily
     where customer_id = any($1) and day >= $2 and day < $3
     group by 1, 2, 3 having sum(calls - given_back) > 0
     order by 1, 2, 3`,
    [query.customerIds, query.from, query.to],
  );
  return rows.map((row) => ({
    customerId: row.customer_id,
    day: row.day,
    platform: row.platform,
    calls: row.calls,
  }));
}
