/** Named timers, one of each: setting one again moves it. */
export class Timers<Name extends string> {
  readonly #timers = new Map<Name, NodeJS.Timeout>();
  #isClosed = false;

  has(name: Name): boolean {
    return this.#timers.has(name);
  }

  set(name: Name, delayMs: number, work: () => void): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timers.get(name));
    const timer = setTimeout(() => {
      this.#timers.delete(name);
      work();
    }, delayMs);
    this.#timers.set(name, timer);
  }

  /** Nothing fires and nothing can be set any more. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
