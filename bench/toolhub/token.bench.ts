import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startDatabase } from '../environment.ts';
import type { Load } from '../load.ts';
import { type Benchmark, middleTurn } from '../result.ts';
import { compare } from './setup.ts';

/** T4: token to customer with a warm cache, against a route that asks nobody for anything. */
export const benchmark: Benchmark = {
  name: 'toolhub token',
  async run() {
    const database = await startDatabase();
    const child = fork(fileURLToPath(new URL('./token-process.ts', import.meta.url)), [database.url], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    try {
      const [{ address, token }] = (await once(child, 'message')) as [{ address: string; token: string }];
      const load = (path: string): Omit<Load, 'seconds' | 'warmupSeconds'> => ({
        ...{ url: address, path, connections: 64, body: '', idempotencyKey: 'none', expectStatus: 200 },
        headers: { authorization: `Bearer ${token}` },
      });
      const turns = await compare([load('/token'), load('/bare')], {
        ...{ rounds: 7, seconds: 1, pid: child.pid as number },
      });
      return [
        {
          ...{ id: 'T4', what: 'token to customer, against a bare route', unit: '/s CPU' },
          ...{
            ...middleTurn(turns.map(([ours = 0, other = 0]) => ({ ours, other }))),
            bar: { kind: 'at least', value: 0.9 },
          },
        },
      ];
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
      await database.stop();
    }
  },
};
