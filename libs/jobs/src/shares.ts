import type { Job } from './store.ts';
import type { Handler } from './worker.ts';

/** How many jobs a batch takes, so that its items stay about within what the handler wants. */
export class Shares {
  readonly #items: Handler['items'];
  readonly #limit: number;
  #itemsPerJob = 1;

  constructor({ items }: Pick<Handler, 'items'>, limit: number) {
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
