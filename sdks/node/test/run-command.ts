// A command line run within this process: a program takes a moment to start, and there are many ways to fail.
import { Readable } from 'node:stream';
import { run } from '../src/cli/run.ts';

export interface Ended {
  code: number;
  out: string;
  err: string;
}

interface World {
  env: Readonly<Record<string, string | undefined>>;
  input?: string | undefined;
  signal?: AbortSignal | undefined;
}

export async function runCommand(words: string[], { env, input, signal }: World): Promise<Ended> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await run(words, {
    env,
    stdin: Readable.from([input ?? '']) as unknown as NodeJS.ReadStream,
    out: (line) => out.push(`${line}\n`),
    err: (line) => err.push(`${line}\n`),
    signal: signal ?? new AbortController().signal,
  });
  return { code, out: out.join(''), err: err.join('') };
}
