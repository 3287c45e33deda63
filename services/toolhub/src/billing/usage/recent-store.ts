import type { Queryable } from '@libs/db';
import type { DayRange } from './rollup-ranges.ts';
import { type ClassCalls, classCallsOf } from './usage-counts.ts';

export interface RecentTool {
  day: string;
  tool: string;
  calls: number;
}

/** How often each tool was called, one row of each day. */
export async function listRecentTools(
  db: Queryable,
  query: DayRange & { customerId: string },
): Promise<RecentTool[]> {
  const { rows } = await db.query<RecentTool>(
    {
      name: 'usage.recent_tools',
      text: 'select day, tool, calls from usage_recent where customer_id = $1 and day >= $2 and day < $3',
    },
    [query.customerId, query.from, query.to],
  );
  return rows;
}

export interface ToolDay {
  day: string;
  tool: string;
  platform: string;
  errors: number;
  calls: ClassCalls;
}

// As text that one split takes apart, as in the rollups; the order of the key makes the groups without a sort.
const TOOL_DAYS = `
select day, tool, platform, sum(errors)::bigint as errors, string_agg(duration_class::text, ' ') as classes,
  string_agg(calls::text, ' ') as class_calls
from usage_daily where customer_id = $1 and day >= $2 and day < $3`;

/** What each tool did on each day, read from the days themselves. */
export async function listToolDays(
  db: Queryable,
  query: DayRange & { customerId: string; tools: 'all' | readonly string[] },
): Promise<ToolDay[]> {
  const isAll = query.tools === 'all';
  const { rows } = await db.query<Omit<ToolDay, 'calls'> & { classes: string; class_calls: string }>(
    {
      name: isAll ? 'usage.tool_days' : 'usage.tool_days_again',
      text: `${TOOL_DAYS}${isAll ? '' : ' and tool = any($4)'} group by day, tool, platform`,
    },
    [query.customerId, query.from, query.to, ...(isAll ? [] : [query.tools])],
  );
  return rows.map(({ day, tool, platform, errors, classes, class_calls: calls }) => ({
    ...{ day, tool, platform, errors },
    calls: classCallsOf(classes.split(' ').map(Number), calls.split(' ').map(Number)),
  }));
}

/** Days that are in the rollups are read from there. */
export async function deleteRecent(
  db: Queryable,
  { customerIds, before }: { customerIds: readonly string[]; before: string },
): Promise<void> {
  await db.query('delete from usage_recent where customer_id = any($1) and day < $2', [customerIds, before]);
}
