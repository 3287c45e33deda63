import { openDatabase } from '@libs/db';
import { startWorker } from '../src/index.ts';

/** Takes jobs on a short lease and never finishes them, until it is killed. */
const database = await openDatabase({ url: process.argv[2] as string, schema: 'public' });
await startWorker({
  database,
  now: () => new Date(),
  onError: () => {},
  handlers: [
    {
      name: 'task',
      leaseMs: 1_000,
      handle: () => {
        process.send?.('taken');
        return new Promise(() => {});
      },
    },
  ],
});
