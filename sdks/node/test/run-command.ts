// A command line run within this process: a program takes a moment to start, and there are many ways to fail.
import { PassThrough, Readable } from 'node:stream';
import { run } from '../src/cli/run.ts';

export interface Ended {
  code: number;
  out: string;
  err: string;
}

interface World {
  env: Readonly<Record<string, string | undefined>>;
  input?: string | undefined;
  /** The same at a terminal, key by key. */
  typed?: string | undefined;
  signal?: AbortSignal | undefined;
}

export async function runCommand(words: string[], { env, input, typed, signal }: World): Promise<Ended> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await run(words, {
    env,
    stdin: (typed === undefined ? Readable.from([input ?? '']) : terminal(typed)) as NodeJS.ReadStream,
    out: (line) => out.push(`${line}\n`),
    err: (line) => err.push(`${line}\n`),
    signal: signal ?? new AbortController().signal,
  });
  return { code, out: out.join(''), err: err.join('') };
}

/** It stays open, as a terminal does. */
function terminal(typed: string): Readable {
  const keys = new PassThrough();
  keys.write(typed);
  return Object.assign(keys, { isTTY: true });
}
