import { readFileSync } from 'node:fs';
import fc from 'fast-check';

/** Something that takes bytes from outside, to be fed with whatever comes to mind. `run` throws when it found a fault. */
export interface FuzzTarget {
  name: string;
  /** Inputs that were once too much, or nearly. */
  corpus: readonly Buffer[];
  arbitrary: fc.Arbitrary<Buffer>;
  run(input: Buffer): Promise<void>;
}

/** Of processor time, in one go. Twice what the contract allows, as compilers and collectors work meanwhile. */
const CPU_MS_MAX = 200;

/** Fails when something takes longer than it may, measured so that a busy machine does not count. */
export async function withinBudget<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  const cpuMs = (user + system) / 1_000;
  if (cpuMs > CPU_MS_MAX) throw new Error(`${what} took ${cpuMs} ms`);
  return result;
}

type Recipe = readonly (readonly [piece: string, times: number])[];

/** A corpus is kept as recipes, since most of what hurts is one thing repeated. */
export function readCorpus(name: string): Buffer[] {
  const file = new URL(`./corpus/${name}.json`, import.meta.url);
  const recipes = JSON.parse(readFileSync(file, 'utf8')) as Recipe[];
  return recipes.map((recipe) => Buffer.from(recipe.map(([piece, times]) => piece.repeat(times)).join('')));
}

/** Pieces in any order, a few of them many times over. */
export function noiseOf(pieces: readonly string[], lengthMax: number): fc.Arbitrary<string> {
  const piece = fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 20 }), fc.integer().map(String));
  const times = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 20_000 }));
  return fc.array(fc.tuple(piece, times), { maxLength: 30 }).map((parts) =>
    parts
      .map(([part, count]) => part.repeat(count))
      .join('')
      .slice(0, lengthMax),
  );
}
