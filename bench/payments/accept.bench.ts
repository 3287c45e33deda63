import { type RunningService, startDatabase, startService } from '../environment.ts';
import { warmUp } from '../load.ts';
import { type Benchmark, median, middleTurn, type Result, type Turn } from '../result.ts';
import { acceptLoad, apiOnly, type Cost, costOf } from './accept-load.ts';
import { startEcho } from './echo.ts';
import { acceptOneByOne } from './one-by-one.ts';

const ONE_BY_ONE_SECONDS = 2;
const ROUNDS = 3;
const PROCESSES = 4;
/**
 * Until none of them compiles any more: with a quarter of the requests each, on cores that four compilers share, a process's
 * own part of a payment fell from 390 to 250 µs within these seconds.
 */
const WARM_UP_SECONDS_OF_FOUR = 30;
/** The one that stays takes in four times as much from then on. */
const WARM_UP_SECONDS_OF_ONE = 5;
const CONNECTIONS = 64;
const SECONDS_OF_FOUR = 2;

interface Measured {
  accepted: Cost[];
  echoed: Cost[];
  replayed: Cost[];
  oneByOne: number[];
  /** CPU of a payment taken in by four processes, and by one of them. */
  byFour: Turn[];
  atHalf: Cost[];
}

async function measure(opened: AsyncDisposableStack): Promise<Measured> {
  const database = await startDatabase();
  opened.defer(() => database.stop());
  const start = () => startService('payments', { ...apiOnly, DATABASE_URL: database.url });
  const service = await start();
  opened.defer(() => service.stop());
  const pids = [database.pid, service.pid];
  const byFour = await measureFour(service, { start, databasePid: database.pid });
  await warmUp(acceptLoad(service.url, { warmupSeconds: WARM_UP_SECONDS_OF_ONE }));
  const echo = await startEcho();
  opened.defer(() => echo.stop());
  const measured: Measured = { accepted: [], echoed: [], replayed: [], oneByOne: [], byFour, atHalf: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    measured.accepted.push(await costOf([acceptLoad(service.url, { warmupSeconds: 0 })], pids));
    measured.oneByOne.push(await acceptOneByOne(database.url, ONE_BY_ONE_SECONDS));
    const warm = round === 0 ? {} : { warmupSeconds: 0 };
    measured.echoed.push(await costOf([acceptLoad(echo.url, { ...warm, seconds: 2 })], [echo.pid]));
    // A second to come back to repeats from what it did in between.
    const replays = acceptLoad(service.url, {
      warmupSeconds: round === 0 ? 3 : 1,
      seconds: 2,
      idempotencyKey: 'fixed',
    });
    measured.replayed.push(await costOf([replays], pids));
  }
  const highest = median(measured.accepted.map((cost) => cost.perSecond));
  for (let round = 0; round < ROUNDS; round += 1) {
    const pauseMs = (CONNECTIONS / (highest / 2)) * 1_000;
    measured.atHalf.push(
      await costOf([acceptLoad(service.url, { warmupSeconds: 0, seconds: 3, pauseMs })], pids),
    );
  }
  return measured;
}

/**
 * This process and three more on one database, against this one alone, in turns. Comes first, while all four have taken in
 * as much as each other: one that had served before would be the warmer one, and the others would seem dear.
 */
async function measureFour(
  first: RunningService,
  { start, databasePid }: { start: () => Promise<RunningService>; databasePid: number },
): Promise<Turn[]> {
  await using others = new AsyncDisposableStack();
  const started = await Promise.all(Array.from({ length: PROCESSES - 1 }, start));
  for (const service of started) others.defer(() => service.stop());
  const all = [first, ...started];
  const alone = acceptLoad(first.url, { warmupSeconds: 0, seconds: SECONDS_OF_FOUR });
  const shares = all.map(({ url }) => ({ ...alone, url, connections: CONNECTIONS / PROCESSES }));
  await Promise.all(shares.map((load) => warmUp({ ...load, warmupSeconds: WARM_UP_SECONDS_OF_FOUR })));
  const turns: Turn[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const four = await costOf(shares, [databasePid, ...all.map(({ pid }) => pid)]);
    const one = await costOf([alone], [databasePid, first.pid]);
    turns.push({ ours: four.cpuMicroseconds, other: one.cpuMicroseconds });
  }
  return turns;
}

function resultsOf(measured: Measured): Result[] {
  const rate = (costs: readonly Cost[]) => median(costs.map((cost) => cost.perSecond));
  const cpu = (costs: readonly Cost[]) => median(costs.map((cost) => cost.cpuMicroseconds));
  const { accepted, echoed, replayed, oneByOne, byFour, atHalf } = measured;
  return [
    {
      ...{ id: 'P1', what: 'payments accepted, against one transaction each', unit: '/s' },
      ...{ ours: rate(accepted), other: median(oneByOne), bar: { kind: 'at least', value: 1.5 } },
    },
    {
      ...{ id: 'P2', what: 'CPU per accepted payment, against a request of an echo', unit: 'µs' },
      ...{ ours: cpu(accepted), other: cpu(echoed), bar: { kind: 'at most', value: 5 } },
    },
    {
      ...{ id: 'P2r', what: 'accepted, against an echo that stores nothing', unit: '/s' },
      ...{ ours: rate(accepted), other: rate(echoed), bar: null },
    },
    {
      ...{ id: 'P3', what: 'replays, against accepting', unit: '/s' },
      ...{ ours: rate(replayed), other: rate(accepted), bar: { kind: 'at least', value: 2 } },
    },
    {
      ...{ id: 'P7', what: 'CPU per payment of four processes, against one', unit: 'µs' },
      ...{ ...middleTurn(byFour), bar: { kind: 'at most', value: 1.15 } },
    },
    {
      ...{ id: 'P9', what: 'p99 of accepting at half the rate, against p50', unit: 'ms' },
      ...{ ours: median(atHalf.map((cost) => cost.p99Ms)), other: median(atHalf.map((cost) => cost.p50Ms)) },
      bar: { kind: 'at most', value: 4 },
    },
  ];
}

export const benchmark: Benchmark = {
  name: 'payments accept',
  async run() {
    await using opened = new AsyncDisposableStack();
    return resultsOf(await measure(opened));
  },
};
