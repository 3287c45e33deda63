import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort, startDatabase, startService } from '../environment.ts';
import { type Load, sendLoad } from '../load.ts';
import { type Benchmark, median } from '../result.ts';
import { acceptOneByOne } from './one-by-one.ts';

const CONNECTIONS = 64;
const SECONDS = 4;
const WARMUP_SECONDS = 2;
const ROUNDS = 3;

const body = JSON.stringify({
  amount: 2_500,
  currency: 'USD',
  source: { payment_method_id: 'pm_alice' },
  destination: { payment_method_id: 'pm_bob' },
  rail: 'auto',
});

export function acceptLoad(url: string, more: Partial<Load> = {}): Load {
  return {
    url,
    path: '/v1/payments',
    connections: CONNECTIONS,
    seconds: SECONDS,
    warmupSeconds: WARMUP_SECONDS,
    headers: { authorization: 'Bearer sk_test_sandbox', 'content-type': 'application/json' },
    body,
    idempotencyKey: 'fresh',
    expectStatus: 202,
    ...more,
  };
}

async function measure(load: Load): Promise<number> {
  const report = await sendLoad(load);
  if (report.unexpected > 0) throw new Error(`${report.unexpected} answers were not ${load.expectStatus}`);
  return report.perSecond;
}

/** A Fastify route that validates the same body and stores nothing. */
async function startEcho(): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const script = fileURLToPath(new URL('./echo-server.ts', import.meta.url));
  const child = spawn(process.execPath, [script, String(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** Accepting alone: the process takes requests, and no worker shares its core. */
export const apiOnly = { PAYMENTS_ROLE: 'api', PAYMENTS_RATE_TEST: '0', PAYMENTS_LOG_LEVEL: 'error' };

export const benchmark: Benchmark = {
  name: 'payments accept',
  async run() {
    const database = await startDatabase();
    const service = await startService('payments', { ...apiOnly, DATABASE_URL: database.url });
    const echo = await startEcho();
    const accepted: number[] = [];
    const echoed: number[] = [];
    const single: number[] = [];
    const replayed: number[] = [];
    let residentMb = 0;
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        const warm = round === 0 ? {} : { warmupSeconds: 0.5 };
        accepted.push(await measure(acceptLoad(service.url, warm)));
        residentMb = Math.max(residentMb, await service.residentMb());
        single.push(await acceptOneByOne(database.url, SECONDS));
        echoed.push(await measure(acceptLoad(echo.url, warm)));
        replayed.push(await measure(acceptLoad(service.url, { ...warm, idempotencyKey: 'fixed' })));
      }
      const second = await startService('payments', { ...apiOnly, DATABASE_URL: database.url });
      const halves = { connections: CONNECTIONS / 2 };
      const both = await Promise.all([
        measure(acceptLoad(service.url, halves)),
        measure(acceptLoad(second.url, halves)),
      ]);
      await second.stop();
      const ours = median(accepted);
      const atLeast = (value: number) => ({ kind: 'at least' as const, value });
      return [
        {
          id: 'P1',
          what: 'payments accepted, against one transaction each',
          ours,
          other: median(single),
          unit: '/s',
          bar: atLeast(1.5),
        },
        {
          id: 'P2',
          what: 'payments accepted, against an echo that stores nothing',
          ours,
          other: median(echoed),
          unit: '/s',
          bar: atLeast(0.5),
        },
        {
          id: 'P3',
          what: 'replays, against accepting',
          ours: median(replayed),
          other: ours,
          unit: '/s',
          bar: atLeast(1),
        },
        {
          id: 'P7',
          what: 'accepted by two processes, against one',
          ours: both[0] + both[1],
          other: ours,
          unit: '/s',
          bar: null,
        },
        {
          id: 'M1',
          what: 'resident memory of payments under load',
          ours: residentMb,
          other: null,
          unit: 'MB',
          bar: { kind: 'at most', value: 250 },
        },
      ];
    } finally {
      await echo.stop();
      await service.stop();
      await database.stop();
    }
  },
};
