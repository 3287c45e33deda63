import { availableParallelism } from 'node:os';

/** A rate of fewer batches than this is that of the one that happened to be slow. */
const BATCHES_PER_WINDOW = 16;
/** Another batch at once takes a connection and memory: it must make the work so much faster. */
const GAIN_MIN = 1.05;
/** One batch less gives them back, and may cost so much. */
const LOSS_MAX = 0.98;
/** How many windows pass between two trials, at first and after trials that changed nothing. */
const REST_MIN = 4;
const REST_MAX = 256;
const BATCHES_MAX = 4;
const BATCHES_AT_FIRST = 2;

/** Beyond one batch for each core, those of one process only wait for each other. */
export function batchesForCores(cores: number = availableParallelism()): number {
  return Math.min(BATCHES_MAX, Math.max(BATCHES_AT_FIRST, cores));
}

export interface OverlapOptions {
  /** How many batches at once it may come to. */
  most: number;
  nowMs: () => number;
}

type Phase = 'rest' | 'trial' | 'after';

/**
 * How many batches of one name are under way at once. Which number is best depends on the cores that this process, the
 * others and the database share, so it is found by trying: while more waits than is taken, one batch more or less is worked on
 * for a window, between two windows of as many as before, and what was faster stays.
 */
export class Overlap {
  readonly #most: number;
  readonly #nowMs: () => number;
  #settled: number;
  #tried: number;
  #phase: Phase = 'rest';
  #isUpNext = true;
  #restFor = REST_MIN;
  #rested = 0;
  #rateBefore = 0;
  #rateTried = 0;
  #startedMs: number | null = null;
  #batches = 0;
  #items = 0;

  constructor({ most, nowMs }: OverlapOptions) {
    this.#most = most;
    this.#nowMs = nowMs;
    this.#settled = Math.min(BATCHES_AT_FIRST, most);
    this.#tried = this.#settled;
  }

  get batches(): number {
    return this.#phase === 'trial' ? this.#tried : this.#settled;
  }

  /** Fewer wait than could be taken: a rate would say how much comes, and not how much could be done. */
  ranDry(): void {
    this.#forgetWindow();
    this.#phase = 'rest';
  }

  ended(items: number): void {
    this.#batches += 1;
    // Batches that began under another number end in the first ones of a window, which only open it.
    if (this.#startedMs === null) {
      if (this.#batches < BATCHES_PER_WINDOW / 2) return;
      this.#startedMs = this.#nowMs();
      this.#batches = 0;
      return;
    }
    this.#items += items;
    if (this.#batches < BATCHES_PER_WINDOW) return;
    const rate = this.#items / Math.max(this.#nowMs() - this.#startedMs, 1);
    this.#forgetWindow();
    this.#take(rate);
  }

  #take(rate: number): void {
    switch (this.#phase) {
      case 'rest':
        this.#rested += 1;
        if (this.#rested > this.#restFor) this.#beginTrial(rate);
        return;
      case 'trial':
        this.#rateTried = rate;
        this.#phase = 'after';
        return;
      case 'after':
        this.#decide((this.#rateBefore + rate) / 2);
    }
  }

  #beginTrial(rate: number): void {
    const step = this.#isUpNext ? 1 : -1;
    const next = this.#settled + step;
    this.#isUpNext = !this.#isUpNext;
    this.#rested = 0;
    if (next < 1 || next > this.#most) return;
    this.#tried = next;
    this.#rateBefore = rate;
    this.#phase = 'trial';
  }

  #decide(rateOtherwise: number): void {
    const isMore = this.#tried > this.#settled;
    const stays = this.#rateTried >= rateOtherwise * (isMore ? GAIN_MIN : LOSS_MAX);
    if (stays) this.#settled = this.#tried;
    this.#restFor = stays ? REST_MIN : Math.min(this.#restFor * 2, REST_MAX);
    this.#phase = 'rest';
  }

  #forgetWindow(): void {
    this.#startedMs = null;
    this.#batches = 0;
    this.#items = 0;
  }
}

/** A number that is given stays as it is. */
export function overlapOf(
  concurrency: number | { most: number } = 1,
  batchesMax = Number.POSITIVE_INFINITY,
): Pick<Overlap, 'batches' | 'ended' | 'ranDry'> {
  if (typeof concurrency === 'number') return { batches: concurrency, ended: () => {}, ranDry: () => {} };
  return new Overlap({ most: Math.min(concurrency.most, batchesMax), nowMs: () => performance.now() });
}
