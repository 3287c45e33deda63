/** Batches under way, by the servers that they are for. */
export class Running {
  readonly #batches = new Map<Promise<void>, string>();

  get size(): number {
    return this.#batches.size;
  }

  on(servers: string): number {
    return [...this.#batches.values()].filter((each) => each === servers).length;
  }

  add(batch: Promise<void>, servers: string): void {
    this.#batches.set(batch, servers);
  }

  delete(batch: Promise<void>): void {
    this.#batches.delete(batch);
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#batches.keys());
  }
}
