// Usage read from rollups is usage read from the days themselves, wherever the edge between both lies.
import type { TestDatabase } from '@libs/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToolhubDatabase } from '../../../test/instance.ts';
import { settleUnits } from '../meter/meter-store.ts';
import { USAGE_GROUPS, type UsageGroup, type UsageGrouping } from '../plan.ts';
import { percentileMs } from './durations.ts';
import { createRollups } from './rollups.ts';
import { findProgress } from './rollups-store.ts';

const clock = { now: new Date('2026-08-20T01:30:00Z') };
const never = new AbortController().signal;
let db: TestDatabase;
let rollups: ReturnType<typeof createRollups>;

beforeAll(async () => {
  db = await createToolhubDatabase();
  rollups = createRollups({ database: db.database, now: () => clock.now });
  await db.database.query(
    `insert into customers (id, email, name, password_hash, created_at)
     select 'cus_' || i, i || '@example.com', 'A', 'x', '2026-04-10T00:00:00Z' from generate_series(1, 3) i`,
  );
  await db.database.query(
    `insert into usage_daily (customer_id, day, tool, duration_class, platform, calls, errors, given_back)
     select 'cus_' || c, date '2026-04-10' + d, 'tool_' || t, (d * 7 + t * 13 + k * 29) % 160, 'platform_' || t % 3,
       1 + (d * t + k) % 50, (d + k) % 2, 0
     from generate_series(1, 2) c, generate_series(0, 140) d, generate_series(1, 6) t, generate_series(0, 3) k
     on conflict do nothing`,
  );
});
afterAll(() => db?.drop());

const rolledBefore = async () => (await findProgress(db.database)).rolledBefore;

const KEY_OF: Record<UsageGrouping, string> = { platform: 'platform', day: 'day::text', tool: 'tool' };

/** From the days alone. */
async function counted(query: { customerId: string; from: string; to: string; group: UsageGrouping }) {
  const { rows } = await db.database.query<{
    key: string;
    durationClass: number;
    calls: number;
    errors: number;
  }>(
    `select ${KEY_OF[query.group]} as key, duration_class as "durationClass", sum(calls)::bigint as calls,
       sum(errors)::bigint as errors
     from usage_daily where customer_id = $1 and day >= $2 and day < $3 group by 1, 2 order by 1, 2`,
    [query.customerId, query.from, query.to],
  );
  return [...Map.groupBy(rows, ({ key }) => key)].map(
    ([key, counts]): UsageGroup => ({
      key,
      calls: counts.reduce((sum, { calls }) => sum + calls, 0),
      errors: counts.reduce((sum, { errors }) => sum + errors, 0),
      p50Ms: percentileMs(counts, 0.5),
      p95Ms: percentileMs(counts, 0.95),
    }),
  );
}

async function compareAll(): Promise<void> {
  const ranges = [
    { from: '2026-04-01', to: '2026-09-01' },
    { from: '2026-05-01', to: '2026-07-01' },
    { from: '2026-04-20', to: '2026-08-21' },
    { from: '2026-06-10', to: '2026-06-20' },
    { from: '2026-08-19', to: '2026-08-21' },
    { from: '2026-08-20', to: '2026-08-20' },
  ];
  for (const customerId of ['cus_1', 'cus_3'])
    for (const group of USAGE_GROUPS)
      for (const range of ranges) {
        const query = { customerId, group, ...range };
        const { groups, totalCalls } = await rollups.usage(query);
        expect(groups, JSON.stringify(query)).toEqual(await counted(query));
        expect(totalCalls).toBe(groups.reduce((sum, { calls }) => sum + calls, 0));
      }
}

test('[TH-7.19] charts read the same before and after the days are added up, and after a repeat', async () => {
  await compareAll();
  expect(await rolledBefore()).toBeNull();
  clock.now = new Date('2026-06-15T01:30:00Z');
  await rollups.roll(never);
  expect(await rolledBefore()).toBe('2026-06-15');
  await compareAll();
  clock.now = new Date('2026-08-20T01:30:00Z');
  await rollups.roll(never);
  await rollups.roll(never);
  expect(await rolledBefore()).toBe('2026-08-20');
  await compareAll();
  const { rows } = await db.database.query<{ months: number }>(
    `select count(distinct starts_on)::int as months from usage_rollups where span = 'month' and customer_id = 'cus_1'`,
  );
  expect(rows[0]?.months).toBe(4);
});

test('[TH-7.19] what was counted late is in the charts after the next night', async () => {
  await db.database.query(
    `update usage_daily set calls = calls + 7 where customer_id = 'cus_1' and day in ('2026-08-19', '2026-08-18')`,
  );
  clock.now = new Date('2026-08-21T01:30:00Z');
  await rollups.roll(never);
  await compareAll();
});

test('[TH-7.19] a run that is stopped half-way leaves the edge where it was, and the next goes on', async () => {
  clock.now = new Date('2026-10-05T01:30:00Z');
  await expect(rollups.roll(AbortSignal.abort())).rejects.toThrow();
  expect(await rolledBefore()).toBe('2026-08-21');
  await rollups.roll(never);
  expect(await rolledBefore()).toBe('2026-10-05');
  await db.database.query(`delete from customers where id = 'cus_2'`);
  const { rows } = await db.database.query(`select 1 from usage_rollups where customer_id = 'cus_2'`);
  expect(rows).toEqual([]);
});

const call = {
  customerId: 'cus_1',
  day: '2026-10-05',
  platform: 'platform_1',
  tool: 'tool_1',
  durationClass: 40,
};

let batches = 0;
const count = (usage: readonly (Partial<typeof call> & { errors?: number })[]) =>
  settleUnits(db.database, {
    ...{ meter: 'mtr_1', number: ++batches },
    settled: [
      { customerId: 'cus_1', month: '2026-10-01', holder: 'hld_gone', kept: usage.length, returned: 0 },
    ],
    usage: usage.map((one) => ({ ...call, calls: 1, errors: 0, givenBack: 0, ...one })),
  });

test('[TH-7.19] a chart that was read is read anew as soon as a call is counted', async () => {
  clock.now = new Date('2026-10-05T12:00:00Z');
  const query = { customerId: 'cus_1', from: '2026-10-01', to: '2026-10-06', group: 'platform' } as const;
  const before = await rollups.usage(query);
  expect(await rollups.usage(query)).toBe(before);
  await count([{}]);
  const after = await rollups.usage(query);
  expect(after.totalCalls).toBe(before.totalCalls + 1);
  expect(after.groups).toEqual(await counted(query));
});

test('[TH-7.19] of a day that is remembered, every tool that was called since is read again, by whichever process', async () => {
  const other = createRollups({ database: db.database, now: () => clock.now });
  const rounds = [
    [{}, { durationClass: 90 }],
    [{ tool: 'tool_new', platform: 'platform_new', errors: 1 }],
    [{ errors: 1 }, { tool: 'tool_2', durationClass: 0 }, { tool: 'tool_new', durationClass: 160 }],
    // A new day, while the one before is not added up yet.
    [{ day: '2026-10-06' }, { day: '2026-10-06', tool: 'tool_2' }, {}],
  ];
  for (const round of rounds) {
    await count(round);
    for (const group of USAGE_GROUPS) {
      const query = { customerId: 'cus_1', from: '2026-09-20', to: '2026-10-07', group };
      const expected = await counted(query);
      for (const process of [rollups, other])
        expect((await process.usage(query)).groups, group).toEqual(expected);
    }
  }
});

test('[TH-7.19] what tells of changed tools goes when the day is added up', async () => {
  const days = async () =>
    (await db.database.query<{ day: string }>('select distinct day from usage_recent order by day')).rows;
  expect(await days()).toEqual([{ day: '2026-10-05' }, { day: '2026-10-06' }]);
  await count([{ customerId: 'internal', day: '2026-10-05' }]);
  clock.now = new Date('2026-10-06T01:30:00Z');
  await rollups.roll(never);
  expect(await days()).toEqual([{ day: '2026-10-06' }]);
});
