import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { mutate } from './mutate.ts';
import { createRandom } from './random.ts';

export const KIB = 1024;

/** Something that reads what a stranger sends. */
export interface Target {
  /** Also the folder of its corpus. */
  readonly name: string;
  readonly words: readonly string[];
  /** Longer inputs are refused before this parser sees them. */
  readonly bytesMax: number;
  /**
   * Throws where the parser does what it must not: it fails in an unexpected way, or breaks a promise. Where the service
   * does not do all of it in one go, each part that it does is a `step`, and the longest of them counts.
   */
  run(input: Buffer, step: Step): void | Promise<void>;
}

export type Step = <T>(work: () => T | Promise<T>) => Promise<T>;

export interface Finding {
  readonly target: string;
  readonly what: string;
  readonly input: Buffer;
}

export interface FuzzResult {
  readonly inputs: number;
  readonly slowestMs: number;
  readonly finding: Finding | undefined;
}

/** Of the processor, not of the clock: a busy machine makes nothing slow. */
const INPUT_CPU_MS_MAX = 100;
/** The first time may pay for compiling or for collecting garbage; a slow parser is slow every time. */
const TRIES_WHEN_SLOW = 3;

const corpusFolder = fileURLToPath(new URL('corpus', import.meta.url));

function readCorpus(target: Pick<Target, 'name'>): Buffer[] {
  const folder = `${corpusFolder}/${target.name}`;
  return readdirSync(folder)
    .sort()
    .flatMap((file) => {
      const bytes = readFileSync(`${folder}/${file}`);
      return file === RECIPES ? cook(bytes.toString()) : [bytes];
    });
}

/** Most of what hurts is one thing repeated: such inputs are kept as lists of pieces, each with how often it comes. */
const RECIPES = 'recipes.json';

function cook(recipes: string): Buffer[] {
  const read = JSON.parse(recipes) as [piece: string, times: number][][];
  return read.map((recipe) => Buffer.from(recipe.map(([piece, times]) => piece.repeat(times)).join('')));
}

function cpuMs(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(since);
  return (user + system) / 1_000;
}

/** Of its longest step, where it has steps, else of its longest turn of the event loop. */
async function longestMs(target: Target, input: Buffer): Promise<number> {
  let longestStep: number | undefined;
  let longestTurn = 0;
  let isOver = false;
  let before = process.threadCpuUsage();
  const endTurn = () => {
    longestTurn = Math.max(longestTurn, cpuMs(before));
    before = process.threadCpuUsage();
    if (!isOver) setImmediate(endTurn);
  };
  setImmediate(endTurn);
  try {
    await target.run(input, async (work) => {
      const begun = process.threadCpuUsage();
      const result = await work();
      longestStep = Math.max(longestStep ?? 0, cpuMs(begun));
      return result;
    });
  } finally {
    isOver = true;
  }
  endTurn();
  return longestStep ?? longestTurn;
}

/** What is wrong with how the target takes this input; undefined when nothing is. */
export async function tryInput(
  target: Target,
  input: Buffer,
): Promise<{ slowestMs: number; finding: Finding | undefined }> {
  const found = (what: string): Finding => ({ target: target.name, what, input });
  let ms = Number.POSITIVE_INFINITY;
  try {
    for (let tries = 0; tries < TRIES_WHEN_SLOW && ms > INPUT_CPU_MS_MAX; tries += 1)
      ms = Math.min(ms, await longestMs(target, input));
  } catch (error) {
    return {
      slowestMs: 0,
      finding: found(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    };
  }
  const what = `took ${Math.round(ms)} ms of the processor for ${input.length} bytes`;
  return { slowestMs: ms, finding: ms > INPUT_CPU_MS_MAX ? found(what) : undefined };
}

export interface FuzzOptions {
  readonly seed: number;
  readonly forMs: number;
  readonly inputsMax?: number;
}

/** The corpus as it is, then changed in ever new ways until the time is up or something is found. */
export async function fuzz(
  target: Target,
  { seed, forMs, inputsMax = Number.POSITIVE_INFINITY }: FuzzOptions,
): Promise<FuzzResult> {
  const corpus = readCorpus(target);
  const random = createRandom(seed);
  let slowestMs = 0;
  let inputs = 0;
  const tryNext = async (input: Buffer) => {
    inputs += 1;
    const tried = await tryInput(target, input);
    slowestMs = Math.max(slowestMs, tried.slowestMs);
    return tried.finding;
  };
  for (const input of corpus) {
    const finding = await tryNext(input);
    if (finding) return { inputs, slowestMs, finding };
  }
  const until = performance.now() + forMs;
  while (performance.now() < until && inputs < inputsMax) {
    const finding = await tryNext(mutate(random, { ...target, corpus }));
    if (finding) return { inputs, slowestMs, finding };
  }
  return { inputs, slowestMs, finding: undefined };
}

export function describeFinding({ target, what, input }: Finding, seed: number): string {
  const shown =
    input.length > 400 ? `${input.subarray(0, 400).toString('latin1')}…` : input.toString('latin1');
  return `${target}, seed ${seed}: ${what}\n  ${input.length} bytes: ${JSON.stringify(shown)}`;
}
