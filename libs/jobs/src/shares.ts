import type { Job } from './store.ts';

/** Jobs that hold many items each. */
export interface Items {
  /** About how many a batch has. */
  max: number;
  of(job: Job): number;
}

/** How many jobs a batch takes, so that its items stay about within what the handler wants. */
export class Shares {
  readonly #items: Items | undefined;
  readonly #limit: number;
  #itemsPerJob = 1;

  constructor(items: Items | undefined, limit: number) {
    this.#items = items;
    this.#limit = limit;
  }

  get jobsMax(): number {
    if (this.#items === undefined) return this.#limit;
    return Math.min(this.#limit, Math.max(1, Math.floor(this.#items.max / this.#itemsPerJob)));
  }

  note(jobs: readonly Job[]): void {
    if (jobs.length > 0) this.#itemsPerJob = Math.max(1, this.itemsIn(jobs) / jobs.length);
  }

  itemsIn(jobs: readonly Job[]): number {
    const items = this.#items;
    return items === undefined ? jobs.length : jobs.reduce((sum, job) => sum + items.of(job), 0);
  }
}
