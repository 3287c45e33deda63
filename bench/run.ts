import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadMaker } from './load.ts';
import { peerMaker } from './payments/one-by-one.ts';
import { type Benchmark, line } from './result.ts';

function secondsSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) / 1_000);
}

/** Runs the benchmarks whose names contain one of the given words, or all of them, one after the other. */
const here = fileURLToPath(new URL('.', import.meta.url));
const wanted = process.argv.slice(2);

const files = ['.', 'payments', 'toolhub']
  .filter((folder) => existsSync(join(here, folder)))
  .flatMap((folder) => readdirSync(join(here, folder)).map((file) => join(folder, file)))
  .filter((file) => file.endsWith('.bench.ts'))
  .sort();

const benchmarks: Benchmark[] = [];
for (const file of files)
  benchmarks.push(((await import(join(here, file))) as { benchmark: Benchmark }).benchmark);
const unknown = wanted.filter((word) => !benchmarks.some(({ name }) => name.includes(word)));
if (unknown.length > 0) {
  console.error(
    `There is no benchmark ${unknown.join(', ')}: there are ${benchmarks.map(({ name }) => name).join(', ')}.`,
  );
  process.exit(2);
}

console.log(`Load by ${loadMaker}; payments one by one by ${peerMaker}.`);
console.log(
  '     what                                                              ours             other     ratio  bar',
);
const took: string[] = [];
for (const benchmark of benchmarks) {
  if (wanted.length > 0 && !wanted.some((word) => benchmark.name.includes(word))) continue;
  const startedAt = performance.now();
  for (const result of await benchmark.run()) console.log(line(result));
  took.push(`${benchmark.name} ${secondsSince(startedAt)}`);
}
console.log(`Took ${secondsSince(0)} s: ${took.join(', ')}.`);
process.exit(0);
