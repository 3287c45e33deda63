import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase } from '@libs/db';
import { withCpu } from '../cpu.ts';
import { type BenchDatabase, startDatabase, startService } from '../environment.ts';
import { measured, warmUp } from '../load.ts';
import { type Benchmark, median, middleTurn, type Turn } from '../result.ts';
import { acceptLoad, type Cost, costOf, rtpBody } from './accept-load.ts';
import { startEcho } from './echo.ts';

const ROUNDS = 3;
const LOAD_SECONDS = 3;
/** Until a process compiles nothing more, on either side: after four seconds accepting still costs half as much again as later. */
const WARMUP_SECONDS = 15;
const ECHO_WARMUP_SECONDS = 4;
const SUSTAINED_SECONDS = 30;
/** Far beyond what a load of some seconds takes; a payment that is stuck ends the benchmark instead of hanging it. */
const COMPLETE_MS_MAX = 60_000;
/** Seldom enough that the look, which reads what is under way, is no part of the cost. */
const LOOK_EVERY_MS = 250;

/** Processes on one machine share a sealing key: one opens the accounts that the other sealed. */
const shared = {
  PAYMENTS_RATE_TEST: '0',
  PAYMENTS_LOG_LEVEL: 'error',
  PAYMENTS_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
};

type Role = 'api' | 'worker' | 'all';

interface Installation {
  server: BenchDatabase;
  database: Database;
  url: string;
  pids: number[];
}

async function install(opened: AsyncDisposableStack, roles: readonly Role[]): Promise<Installation> {
  const server = await startDatabase();
  opened.defer(() => server.stop());
  const pids = [server.pid];
  let url = '';
  for (const role of roles) {
    const service = await startService('payments', {
      ...shared,
      PAYMENTS_ROLE: role,
      DATABASE_URL: server.url,
    });
    opened.defer(() => service.stop());
    pids.push(service.pid);
    if (role !== 'worker') url = service.url;
  }
  const database = await openDatabase({ url: server.url, schema: 'payments', connectionsMax: 1 });
  opened.defer(() => database.close());
  return { server, database, url, pids };
}

async function countPayments(database: Database): Promise<{ completed: number; others: number }> {
  const { rows } = await database.query<{ completed: number; others: number }>(
    `select count(*) filter (where status = 'completed')::int as completed,
       count(*) filter (where status <> 'completed')::int as others from payments`,
  );
  return rows[0] ?? { completed: 0, others: 0 };
}

async function someAreUnderWay(database: Database): Promise<boolean> {
  const { rows } = await database.query<{ open: boolean }>(
    `select exists (select from payments_uncompleted where status in ('pending', 'processing')) as open`,
  );
  return rows[0]?.open ?? false;
}

/** Microseconds of all processes per payment, from the first request to the moment at which none is under way any more. */
async function completeAll({ database, url, pids }: Installation, seconds: number): Promise<number> {
  const before = await countPayments(database);
  const deadline = performance.now() + seconds * 1_000 + COMPLETE_MS_MAX;
  const cost = await withCpu(pids, async () => {
    await measured(acceptLoad(url, { body: rtpBody, seconds, warmupSeconds: 0 }));
    while (await someAreUnderWay(database)) {
      if (performance.now() > deadline) throw new Error(`payments are under way after ${COMPLETE_MS_MAX} ms`);
      await sleep(LOOK_EVERY_MS);
    }
  });
  const after = await countPayments(database);
  if (after.others > 0) throw new Error(`${after.others} payments ended otherwise than completed`);
  return (cost.seconds / (after.completed - before.completed)) * 1e6;
}

/** Completed per second while payments keep coming as fast as they are accepted. */
async function completeSustained({ database, url }: Installation): Promise<number> {
  await measured(acceptLoad(url, { body: rtpBody, seconds: WARMUP_SECONDS, warmupSeconds: 0 }));
  const before = await countPayments(database);
  const startedAt = performance.now();
  await measured(acceptLoad(url, { body: rtpBody, seconds: SUSTAINED_SECONDS, warmupSeconds: 0 }));
  const after = await countPayments(database);
  return ((after.completed - before.completed) / (performance.now() - startedAt)) * 1_000;
}

export const benchmark: Benchmark = {
  name: 'payments complete',
  async run() {
    await using opened = new AsyncDisposableStack();
    // A database each: what was only accepted would otherwise wait in front of what is to be completed.
    const alone = await install(opened, ['api']);
    const both = await install(opened, ['api', 'worker']);
    const echo = await startEcho();
    opened.defer(() => echo.stop());
    const accepted: Cost[] = [];
    const echoed: Cost[] = [];
    const turns: Turn[] = [];
    await completeAll(both, WARMUP_SECONDS);
    await warmUp(acceptLoad(alone.url, { warmupSeconds: WARMUP_SECONDS }));
    await warmUp(acceptLoad(echo.url, { warmupSeconds: ECHO_WARMUP_SECONDS }));
    for (let round = 0; round < ROUNDS; round += 1) {
      const cost = await costOf([acceptLoad(alone.url, { warmupSeconds: 0, seconds: 2 })], alone.pids);
      accepted.push(cost);
      echoed.push(await costOf([acceptLoad(echo.url, { warmupSeconds: 0, seconds: 1 })], [echo.pid]));
      turns.push({ ours: await completeAll(both, LOAD_SECONDS), other: cost.cpuMicroseconds });
    }
    const sustained = await completeSustained(await install(opened, ['all']));
    return [
      {
        ...{ id: 'P4', what: 'CPU per payment completed by RTP, against accepted', unit: 'µs' },
        ...{ ...middleTurn(turns), bar: { kind: 'at most', value: 2.5 } },
      },
      {
        ...{ id: 'P4e', what: 'the same, against an echo', unit: 'µs', bar: null },
        ...{
          ours: median(turns.map(({ ours }) => ours)),
          other: median(echoed.map((cost) => cost.cpuMicroseconds)),
        },
      },
      {
        ...{ id: 'P4b', what: 'completed by one process for 30 s, against accepting', unit: '/s' },
        ...{ ours: sustained, other: median(accepted.map((cost) => cost.perSecond)) },
        bar: { kind: 'at least', value: 0.4 },
      },
    ];
  },
};
