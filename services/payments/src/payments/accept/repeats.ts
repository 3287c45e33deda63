/** Who repeats one key repeats others: a client that lost its connection, or a test that sends everything twice. */
const WARY_BATCHES = 100;

/**
 * Whether to expect that keys were taken before. The statement for new keys costs less, and has to be done again by the
 * other one where a key turns out not to be new; after that the other one is used for a while.
 */
export class Repeats {
  #waryBatches = 0;

  get areExpected(): boolean {
    return this.#waryBatches > 0;
  }

  noteBatch({ hadRepeats }: { hadRepeats: boolean }): void {
    this.#waryBatches = hadRepeats ? WARY_BATCHES : Math.max(0, this.#waryBatches - 1);
  }
}
