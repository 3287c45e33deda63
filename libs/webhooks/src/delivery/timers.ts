/** Named timers, one of each: setting one again moves it. */
export class Timers<Name extends string> {
  readonly #timers = new Map<Name, NodeJS.Timeout>();

  has(name: Name): boolean {
    return this.#timers.has(name);
  }

  set(name: Name, delayMs: number, work: () => void): void {
    clearTimeout(this.#timers.get(name));
    const timer = setTimeout(() => {
      this.#timers.delete(name);
      work();
    }, delayMs);
    this.#timers.set(name, timer);
  }

  clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
