import type { Server, ServerResponse } from 'node:http';

export const DRAIN_TIMEOUT_MS = 20_000;

/**
 * The open requests of one server, and the switch that turns it off: from then on every answer closes its connection,
 * and the `signal` tells long answers (event streams) to end.
 */
export class Drain {
  readonly #open = new Set<ServerResponse>();
  readonly #abort = new AbortController();
  readonly #onClose: (this: ServerResponse) => void;

  constructor() {
    const open = this.#open;
    this.#onClose = function onClose(this: ServerResponse) {
      open.delete(this);
    };
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get isDraining(): boolean {
    return this.#abort.signal.aborted;
  }

  get openRequests(): number {
    return this.#open.size;
  }

  track(response: ServerResponse): void {
    this.#open.add(response);
    response.once('close', this.#onClose);
  }

  done(response: ServerResponse): void {
    this.#open.delete(response);
  }

  begin(): void {
    // Node then writes `connection: close` by itself where the headers have not left yet.
    for (const response of this.#open) response.shouldKeepAlive = false;
    this.#abort.abort();
  }
}

/** Waits for `closing`; connections that are still open at the end of the time are cut. */
export async function closeWithin(
  server: Server,
  closing: Promise<unknown>,
  timeoutMs: number,
): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), timeoutMs);
  try {
    await closing;
  } finally {
    clearTimeout(timer);
  }
}
