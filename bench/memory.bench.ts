import { randomBytes } from 'node:crypto';
import { residentMb, startDatabase, startService } from './environment.ts';
import { measured } from './load.ts';
import { acceptLoad, rtpBody } from './payments/accept-load.ts';
import type { Benchmark, Result } from './result.ts';
import { mcpLoad, startHub } from './toolhub/setup.ts';

const SECONDS = 60;
const bar = { kind: 'at most', value: 220 } as const;

/** M1: what each process keeps after a minute under its load; payments are taken to their end, and tools called beside them. */
export const benchmark: Benchmark = {
  name: 'memory',
  async run() {
    await using opened = new AsyncDisposableStack();
    const server = await startDatabase();
    opened.defer(() => server.stop());
    const hub = await startHub();
    opened.defer(() => hub.stop());
    const settings = {
      ...{ PAYMENTS_RATE_TEST: '0', PAYMENTS_LOG_LEVEL: 'error', DATABASE_URL: server.url },
      PAYMENTS_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    };
    const start = async (role: 'api' | 'worker') => {
      const service = await startService('payments', { ...settings, PAYMENTS_ROLE: role });
      opened.defer(() => service.stop());
      return service;
    };
    const [api, worker] = [await start('api'), await start('worker')];
    const calls = mcpLoad({ url: hub.url, path: '/mcp', token: hub.token }, 'tools/call');
    await Promise.all([
      measured(acceptLoad(api.url, { body: rtpBody, seconds: SECONDS, warmupSeconds: 0 })),
      measured({ ...calls, seconds: SECONDS, warmupSeconds: 0 }),
    ]);
    const result = async (what: string, pid: number): Promise<Result> => ({
      ...{ id: 'M1', what: `memory of ${what} after ${SECONDS} s`, unit: 'MB', other: null, bar },
      ours: await residentMb(pid),
    });
    return [
      await result("payments' api", api.pid),
      await result("payments' worker", worker.pid),
      await result('toolhub', hub.pid),
    ];
  },
};
