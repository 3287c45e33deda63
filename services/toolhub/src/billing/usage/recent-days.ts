import type { Database } from '@libs/db';
import { LRUCache } from 'lru-cache';
import { listRecentTools, listToolDays, type RecentTool, type ToolDay } from './recent-store.ts';
import type { DayRange } from './rollup-ranges.ts';

/** What the tools of a customer did on days that are not added up yet. */
export interface RecentDays {
  read(query: DayRange & { customerId: string }): Promise<ToolDay[]>;
}

/** Tools of a day, each of some kilobyte, that are remembered. */
const TOOL_DAYS_MAX = 4_000;
/** A process of an older version counts without telling which tools it counted: its calls are seen after this at the latest. */
const REMEMBERED_MS = 5 * 60_000;

interface Remembered {
  /** By day and tool, what `usage_recent` said before the tool was read. */
  seen: ReadonlyMap<string, number>;
  toolDays: ReadonlyMap<string, readonly ToolDay[]>;
}

const slotOf = ({ day, tool }: { day: string; tool: string }) => `${day} ${tool}`;

/**
 * Reads a day once and then only the tools that were called since: a busy day has thousands of rows, of which a call
 * changes one. The numbers are read before the rows they stand for, so what is remembered is never older than they say.
 */
export function createRecentDays({ database }: { database: Database }): RecentDays {
  const days = new LRUCache<string, Remembered>({
    maxSize: TOOL_DAYS_MAX,
    sizeCalculation: ({ toolDays }) => 1 + toolDays.size,
    ttl: REMEMBERED_MS,
    noUpdateTTL: true,
  });

  async function readAgain(
    query: DayRange & { customerId: string },
    known: Remembered | undefined,
    recent: readonly RecentTool[],
  ): Promise<Remembered> {
    const changed = recent.filter((one) => known?.seen.get(slotOf(one)) !== one.calls);
    if (known !== undefined && changed.length === 0) return known;
    const tools = known === undefined ? 'all' : [...new Set(changed.map(({ tool }) => tool))];
    const read = await listToolDays(database, { ...query, tools });
    return {
      seen: new Map([...(known?.seen ?? []), ...recent.map((one) => [slotOf(one), one.calls] as const)]),
      toolDays: new Map([...(known?.toolDays ?? []), ...Map.groupBy(read, slotOf)]),
    };
  }
  return {
    async read(query) {
      if (query.from >= query.to) return [];
      const range = [query.customerId, query.from, query.to].join(' ');
      const recent = await listRecentTools(database, query);
      const read = await readAgain(query, days.get(range), recent);
      days.set(range, read);
      return [...read.toolDays.values()].flat();
    },
  };
}
