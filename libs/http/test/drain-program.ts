// A small service for drain.test.ts: answers /slow after a while, and tells its parent when somebody waits for it.
import { setTimeout as sleep } from 'node:timers/promises';
import { listen, runMain, runUntilSignal } from '@libs/runtime';
import { createApp } from '../src/index.ts';

const SLOW_MS = 300;

await runMain(async () => {
  const app = await createApp({
    name: 'program',
    version: '1.0.0',
    publicUrl: 'http://localhost',
    logLevel: 'silent',
    defaultMetrics: false,
  });
  app.get('/slow', async () => {
    process.send?.({ waiting: true });
    await sleep(SLOW_MS);
    return { done: true };
  });
  const { port } = await listen(app, {
    host: '127.0.0.1',
    port: Number(process.argv[2] ?? 0),
    portVariable: 'PROGRAM_PORT',
  });
  process.send?.({ port });
  await runUntilSignal({ app });
});
