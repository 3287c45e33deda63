import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase } from '@libs/db';
import { startDatabase, startService } from '../environment.ts';
import { sendLoad } from '../load.ts';
import { type Benchmark, median } from '../result.ts';
import { acceptLoad } from './accept.bench.ts';

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

/** One process takes requests, another works behind it: the two roles that an operator runs on one machine. */
const encryptionKey = randomBytes(32).toString('base64');
const quietly = { PAYMENTS_RATE_TEST: '0', PAYMENTS_LOG_LEVEL: 'error' };

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

interface Measured {
  accepted: number;
  completed: number;
  workerMb: number;
}

async function measure(opened: AsyncDisposableStack): Promise<Measured> {
  const startServer = async () => {
    const server = await startDatabase();
    opened.defer(() => server.stop());
    return server.url;
  };
  const start = async (role: 'api' | 'worker', databaseUrl: string) => {
    const service = await startService('payments', {
      ...quietly,
      PAYMENTS_ROLE: role,
      PAYMENTS_ENCRYPTION_KEY: encryptionKey,
      DATABASE_URL: databaseUrl,
    });
    opened.defer(() => service.stop());
    return service;
  };
  // Two databases: what was only accepted would otherwise wait in front of what is to be completed.
  const alone = await start('api', await startServer());
  const databaseUrl = await startServer();
  const api = await start('api', databaseUrl);
  const worker = await start('worker', databaseUrl);
  const database = await openDatabase({ url: databaseUrl, schema: 'payments', connectionsMax: 1 });
  opened.defer(() => database.close());
  const accepted: number[] = [];
  const completed: number[] = [];
  let workerMb = 0;
  await complete(database, api.url, WARMUP_SECONDS);
  for (let round = 0; round < ROUNDS; round += 1) {
    const warmupSeconds = round === 0 ? WARMUP_SECONDS : 1;
    const load = acceptLoad(alone.url, { seconds: ACCEPT_SECONDS, warmupSeconds });
    accepted.push((await sendLoad(load)).perSecond);
    completed.push(await complete(database, api.url, LOAD_SECONDS));
    workerMb = Math.max(workerMb, await worker.residentMb());
  }
  return { accepted: median(accepted), completed: median(completed), workerMb };
}

export const benchmark: Benchmark = {
  name: 'payments complete',
  async run() {
    const opened = new AsyncDisposableStack();
    try {
      const { accepted, completed, workerMb } = await measure(opened);
      return [
        {
          id: 'P4',
          what: 'payments completed over RTP, against accepting',
          ours: completed,
          other: accepted,
          unit: '/s',
          bar: { kind: 'at least', value: 0.3 },
        },
        {
          id: 'M1',
          what: "resident memory of payments' worker under load",
          ours: workerMb,
          other: null,
          unit: 'MB',
          bar: { kind: 'at most', value: 250 },
        },
      ];
    } finally {
      await opened.disposeAsync();
    }
  },
};
