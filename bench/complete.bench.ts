import assert from 'node:assert/strict';
import { residentMb } from './environment.ts';
import { measured } from './load.ts';
import { acceptLoad, rtpBody } from './payments/accept-load.ts';
import { install, measureCompleting } from './payments/complete.ts';
import type { Benchmark, Result } from './result.ts';
import { mcpLoad, startHub } from './toolhub/setup.ts';

const SECONDS = 60;
const bar = { kind: 'at most', value: 220 } as const;

/**
 * M1: what each process keeps after a minute under its load; payments are taken to their end, and tools called beside them.
 * Then P4 of the same processes, which compile nothing more by now.
 */
export const benchmark: Benchmark = {
  name: 'payments complete, memory',
  async run() {
    await using opened = new AsyncDisposableStack();
    const hub = await startHub();
    await using underLoad = new AsyncDisposableStack();
    underLoad.defer(() => hub.stop());
    const payments = await install(opened, ['api', 'worker']);
    const calls = mcpLoad({ url: hub.url, path: '/mcp', token: hub.token }, 'tools/call');
    await Promise.all([
      measured(acceptLoad(payments.url, { body: rtpBody, seconds: SECONDS, warmupSeconds: 0 })),
      measured({ ...calls, seconds: SECONDS, warmupSeconds: 0 }),
    ]);
    const { api, worker } = payments.services;
    assert(api && worker, 'both roles were started');
    const kept = async (what: string, { pid }: { pid: number }): Promise<Result> => ({
      ...{ id: 'M1', what: `memory of ${what} after ${SECONDS} s`, unit: 'MB', other: null, bar },
      ours: await residentMb(pid),
    });
    const memory = [
      await kept("payments' api", api),
      await kept("payments' worker", worker),
      await kept('toolhub', hub),
    ];
    await underLoad.disposeAsync();
    return [...memory, ...(await measureCompleting(payments))];
  },
};
