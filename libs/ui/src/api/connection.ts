/** Whether the server answers, as the calls of this page find out; the shell shows it. */
type Listener = () => void;

const PROBE_EVERY_MS = 2_000;
const PROBE_TIMEOUT_MS = 5_000;

class Connection {
  #lost = false;
  #probing = false;
  readonly #listeners = new Set<Listener>();

  readonly subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly isLost = (): boolean => this.#lost;

  /** A call got no answer: from now on a small question is asked until one comes. */
  reportLost(): void {
    this.#set(true);
    if (!this.#probing) void this.#probe();
  }

  reportAnswer(): void {
    this.#set(false);
  }

  /** Resolves as soon as there is an answer again. */
  back(): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.subscribe(() => {
        if (this.#lost) return;
        stop();
        resolve();
      });
      if (!this.#lost) resolve();
    });
  }

  async #probe(): Promise<void> {
    this.#probing = true;
    while (this.#lost) {
      await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
      try {
        const answer = await fetch('/healthz', { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
        if (answer.ok) this.#set(false);
      } catch {
        // Still nobody there: asked again after the pause.
      }
    }
    this.#probing = false;
  }

  #set(lost: boolean): void {
    if (this.#lost === lost) return;
    this.#lost = lost;
    for (const listener of this.#listeners) listener();
  }
}

export const connection = new Connection();
