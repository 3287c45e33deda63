import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase } from '@libs/db';
import { startDatabase, startService } from '../environment.ts';
import { sendLoad } from '../load.ts';
import { type Benchmark, median } from '../result.ts';
import { acceptLoad, apiOnly } from './accept.bench.ts';

const ROUNDS = 3;
const LOAD_SECONDS = 7;
const ACCEPT_SECONDS = 4;
const WARMUP_SECONDS = 6;
/** Far beyond what a load of some seconds takes; a payment that is stuck ends the benchmark instead of hanging it. */
const COMPLETE_MS_MAX = 60_000;
const LOOK_EVERY_MS = 50;

const body = JSON.stringify({
  amount: 2_500,
  currency: 'USD',
  source: { payment_method_id: 'pm_alice' },
  destination: { payment_method_id: 'pm_bob' },
  rail: 'rtp',
});

/** One process takes requests and does the work behind them, as `npm start` runs it. */
const everything = { PAYMENTS_ROLE: 'all', PAYMENTS_RATE_TEST: '0', PAYMENTS_LOG_LEVEL: 'error' };

/** Payments completed per second, from the first request to the moment at which none is under way any more. */
async function complete(database: Database, url: string, seconds: number): Promise<number> {
  const before = await countPayments(database);
  const startedAt = performance.now();
  const load = acceptLoad(url, { body, seconds, warmupSeconds: 0 });
  const report = await sendLoad(load);
  if (report.unexpected > 0) throw new Error(`${report.unexpected} answers were not ${load.expectStatus}`);
  while (await someAreUnderWay(database)) {
    if (performance.now() - startedAt > COMPLETE_MS_MAX) {
      throw new Error(`payments are still under way after ${COMPLETE_MS_MAX} ms`);
    }
    await sleep(LOOK_EVERY_MS);
  }
  const elapsedMs = performance.now() - startedAt;
  const after = await countPayments(database);
  if (after.others > 0) throw new Error(`${after.others} payments ended otherwise than completed`);
  return ((after.completed - before.completed) / elapsedMs) * 1_000;
}

async function someAreUnderWay(database: Database): Promise<boolean> {
  const { rows } = await database.query<{ open: boolean }>(
    `select exists (select from payments where status in ('pending', 'processing') and status <> 'completed') as open`,
  );
  return rows[0]?.open ?? false;
}

async function countPayments(database: Database): Promise<{ completed: number; others: number }> {
  const { rows } = await database.query<{ completed: number; others: number }>(
    `select count(*) filter (where status = 'completed')::int as completed,
       count(*) filter (where status <> 'completed')::int as others from payments`,
  );
  return rows[0] ?? { completed: 0, others: 0 };
}

async function measure(opened: AsyncDisposableStack): Promise<{ accepted: number; completed: number }> {
  const start = async (env: Readonly<Record<string, string>>) => {
    const server = await startDatabase();
    opened.defer(() => server.stop());
    const service = await startService('payments', { ...env, DATABASE_URL: server.url });
    opened.defer(() => service.stop());
    return { url: service.url, databaseUrl: server.url };
  };
  // Two databases: what was only accepted would otherwise wait in front of what is to be completed.
  const api = await start(apiOnly);
  const all = await start(everything);
  const database = await openDatabase({ url: all.databaseUrl, schema: 'payments', connectionsMax: 1 });
  opened.defer(() => database.close());
  const accepted: number[] = [];
  const completed: number[] = [];
  await complete(database, all.url, WARMUP_SECONDS);
  for (let round = 0; round < ROUNDS; round += 1) {
    const warmupSeconds = round === 0 ? WARMUP_SECONDS : 1;
    const load = acceptLoad(api.url, { seconds: ACCEPT_SECONDS, warmupSeconds });
    accepted.push((await sendLoad(load)).perSecond);
    completed.push(await complete(database, all.url, LOAD_SECONDS));
  }
  return { accepted: median(accepted), completed: median(completed) };
}

export const benchmark: Benchmark = {
  name: 'payments complete',
  async run() {
    const opened = new AsyncDisposableStack();
    try {
      const { accepted, completed } = await measure(opened);
      return [
        {
          id: 'P4',
          what: 'payments completed over RTP, against accepting',
          ours: completed,
          other: accepted,
          unit: '/s',
          bar: { kind: 'at least', value: 0.3 },
        },
      ];
    } finally {
      await opened.disposeAsync();
    }
  },
};
