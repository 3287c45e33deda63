#!/usr/bin/env node
import { isRunByNpx } from './program.ts';
import { run } from './run.ts';

const PARENT_POLL_MS = 250;

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(signal));
// npx runs this through a shell, and a signal to npx ends that shell without reaching us: its end is our signal.
const parent = process.ppid;
const watch = () => process.ppid === parent || stop.abort('SIGTERM');
if (isRunByNpx(process.env)) setInterval(watch, PARENT_POLL_MS).unref();
// A reader that has seen enough (`payments list | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  signal: stop.signal,
});
