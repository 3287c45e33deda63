import { type Database, openDatabase } from '@libs/db';
import { settleUnits } from '../../services/toolhub/src/billing/meter/meter-store.ts';
import { createRollups } from '../../services/toolhub/src/billing/usage/rollups.ts';
import { fillTimeouts, startDatabase, startService } from '../environment.ts';
import { type Benchmark, median, type Result } from '../result.ts';
import { signUp } from '../visitor.ts';

/** The bar is for ten million; the short form keeps the whole run within its minutes. */
const MANY = Number(process.env.BENCH_CALLS ?? 200_000);
const FEW = 1_000;
const DAYS = 365;
const TOOLS = 100;
const PLATFORMS = 11;
/** Classes of duration that calls of a tool fall into: from some 10 ms to some seconds. */
const CLASSES = 45;
/** The log is read by its key from the newest on, so that its length beyond this says nothing more. */
const LOG_ROWS_MAX = 200_000;
const WARM_UP = 5;
const ROUNDS = 15;
const CHART_MS_MAX = 100;
/** As every page of a dashboard. */
const RATIO_MAX = 1.5;

interface Customer {
  id: string;
  call(path: string): Promise<number>;
}

async function join(url: string): Promise<Customer> {
  const { joined, call } = await signUp<{ customer: { id: string } }>(url, '/api/auth/signup');
  return { id: joined.customer.id, call };
}

/** A year of calls as the meter counts them: by day, tool and class of duration, all of which many calls fill. */
async function fill(database: Database, customerId: string, calls: number): Promise<void> {
  const cells = DAYS * TOOLS * CLASSES;
  await database.session(async (session) => {
    await session.query('set synchronous_commit = off');
    await session.query(
      `insert into usage_daily (customer_id, day, tool, duration_class, platform, calls, errors, given_back)
       select $1, current_date - (cell / ${TOOLS * CLASSES})::int, 'tool_' || lpad((cell % ${TOOLS})::text, 3, '0'),
         20 + (cell / ${TOOLS} % ${CLASSES})::int, 'platform_' || lpad((cell % ${TOOLS} % ${PLATFORMS})::text, 2, '0'),
         sum(share)::bigint, (sum(share) / 50)::bigint, 0
       from (
         select (i::bigint * ${Math.max(1, Math.floor(cells / Math.min(calls, cells)))}) % ${cells} as cell,
           ${Math.max(1, Math.round(calls / cells))} as share
         from generate_series(0, ${Math.min(calls, cells) - 1}) as i
       ) spread group by cell`,
      [customerId],
    );
    await session.query(
      `insert into audit_entries (customer_id, id, at, actor_type, actor_id, action, target, outcome, ip, request_id)
       select $1, 'aud_' || lpad(i::text, 26, '0'), now() - i * interval '3 seconds', 'token', 'tok_1', 'tool.call',
         'tool_' || i % ${TOOLS}, 'success', '127.0.0.1', 'req_' || i
       from generate_series(1, ${Math.min(calls, LOG_ROWS_MAX)}) as i`,
      [customerId],
    );
    for (const table of ['usage_daily', 'audit_entries']) await session.query(`vacuum analyze ${table}`);
  });
}

/** What the overview asks for, for every range that it offers. */
function charts(): Record<string, string> {
  const day = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
  const usage = (days: number, group: string) =>
    `/api/usage?${new URLSearchParams({ from: day(days - 1), to: day(-1), group })}`;
  return {
    'usage by platform, 7 days': usage(7, 'platform'),
    'usage by platform, 30 days': usage(30, 'platform'),
    'usage by platform, 90 days': usage(90, 'platform'),
    'usage by platform, a year': usage(365, 'platform'),
    'daily activity, 30 days': usage(30, 'day'),
    'daily activity, a year': usage(365, 'day'),
    'usage by tool, 30 days': usage(30, 'tool'),
    'the quota': '/api/plan',
    'the latest calls': '/api/audit?action=tool.call&limit=8',
  };
}

interface Asked {
  customer: Customer;
  path: string;
  /** Before each round, untimed. */
  before?: (() => Promise<unknown>) | undefined;
}

/** In turns, so that what else the machine does meets all of them. */
async function timesOf(asked: readonly Asked[]): Promise<number[]> {
  const times = asked.map((): number[] => []);
  for (let round = -WARM_UP; round < ROUNDS; round += 1)
    for (const [index, { customer, path, before }] of asked.entries()) {
      await before?.();
      const ms = await customer.call(path);
      if (round >= 0) times[index]?.push(ms);
    }
  return times.map(median);
}

let batches = 0;

/** A call is counted as the meter does it, so that the chart has to be read anew. */
function afterACall(database: Database, { id }: Customer): () => Promise<unknown> {
  let calls = 0;
  return () => {
    const today = new Date().toISOString().slice(0, 10);
    const tool = calls % TOOLS;
    calls += 1;
    batches += 1;
    return settleUnits(database, {
      ...{ meter: 'mtr_bench', number: batches },
      settled: [
        { customerId: id, month: `${today.slice(0, 7)}-01`, holder: 'hld_gone', kept: 1, returned: 0 },
      ],
      usage: [
        {
          ...{ customerId: id, day: today, tool: nameOf('tool', 3, tool) },
          ...{ platform: nameOf('platform', 2, tool % PLATFORMS), durationClass: 20 + (calls % CLASSES) },
          ...{ calls: 1, errors: 0, givenBack: 0 },
        },
      ],
    });
  };
}

const nameOf = (what: string, digits: number, number: number) =>
  `${what}_${String(number).padStart(digits, '0')}`;

/** D1, D2: the charts of a year of many calls, against those of a thousand. */
export const benchmark: Benchmark = {
  name: 'toolhub usage',
  async run() {
    const server = await startDatabase();
    const service = await startService('toolhub', { DATABASE_URL: server.url, TOOLHUB_RATE_API: '0' });
    const database = await openDatabase({ url: server.url, schema: 'toolhub', timeouts: fillTimeouts });
    try {
      const [few, many] = [await join(service.url), await join(service.url)];
      await fill(database, few.id, FEW);
      await fill(database, many.id, MANY);
      await database.query(`update customers set created_at = now() - interval '${DAYS + 1} days'`);
      // As the nights of the year would have done it.
      const rollups = createRollups({ database, now: () => new Date() });
      const startedAt = performance.now();
      await rollups.roll(new AbortController().signal);
      console.log(`     a year was added up in ${Math.round(performance.now() - startedAt)} ms`);
      await database.session((session) => session.query('vacuum analyze usage_rollups'));
      const results: Result[] = [];
      for (const [chart, path] of Object.entries(charts()))
        for (const isAfterACall of path.startsWith('/api/usage') ? [true, false] : [false]) {
          const [other = 0, ours = 0] = await timesOf(
            [few, many].map((customer) => ({
              ...{ customer, path, before: isAfterACall ? afterACall(database, customer) : undefined },
            })),
          );
          const result = { what: isAfterACall ? `${chart}, after a call` : chart, ours, unit: 'ms' };
          results.push(
            { ...result, id: 'D1', other, bar: { kind: 'at most', value: RATIO_MAX } },
            { ...result, id: 'D2', other: null, bar: { kind: 'at most', value: CHART_MS_MAX } },
          );
        }
      return results;
    } finally {
      await database.close();
      await service.stop();
      await server.stop();
    }
  },
};
