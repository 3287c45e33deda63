/** Whether the server answers, as the calls of this page find out; the shell shows it. */
type Listener = () => void;

const PROBE_EVERY_MS = 2_000;
const PROBE_TIMEOUT_MS = 5_000;
/** From here on it may be a gateway that speaks: the server was not reached, or did not answer in time. */
export const GATEWAY_MIN = 502;

export class Connection {
  #lost = false;
  #probing = false;
  readonly #listeners = new Set<Listener>();

  readonly subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly isLost = (): boolean => this.#lost;

  /**
   * A call got no answer. The connection is lost where a small question gets none either, which is asked until one comes: a single
   * address that is blocked or too slow would be lost and back for ever, and everything read anew each time.
   */
  reportLost(): void {
    if (!this.#probing) void this.#probe();
  }

  reportAnswer(): void {
    this.#set(false);
  }

  /** Resolves as soon as there is an answer again. */
  async back(): Promise<void> {
    while (!(await answers())) await pause();
  }

  async #probe(): Promise<void> {
    this.#probing = true;
    while (!(await answers())) {
      this.#set(true);
      await pause();
      // Another call was answered meanwhile.
      if (!this.#lost) break;
    }
    this.#probing = false;
    this.#set(false);
  }

  #set(lost: boolean): void {
    if (this.#lost === lost) return;
    this.#lost = lost;
    for (const listener of this.#listeners) listener();
  }
}

function pause(): Promise<void> {
  return new Promise((resume) => setTimeout(resume, PROBE_EVERY_MS));
}

/** A gateway that has no server behind it answers, too. */
async function answers(): Promise<boolean> {
  try {
    const { status } = await fetch('/healthz', { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    return status < GATEWAY_MIN;
  } catch {
    return false;
  }
}

export const connection = new Connection();
