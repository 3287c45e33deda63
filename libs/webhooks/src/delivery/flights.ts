import type { Post } from './post.ts';

/** One try under way. */
export interface Flight {
  readonly post: Post;
  readonly startedAtMs: number;
  isSlow: boolean;
}

export interface FlightsOptions<Own extends Flight> {
  readonly timeoutMs: number;
  readonly slowMs: number;
  /** Monotonic: a clock that is set must not end a try. */
  readonly monotonicMs: () => number;
  readonly onSlow: (flight: Own) => void;
}

const SWEEP_MS_MAX = 100;

/**
 * Time-outs of all tries with one timer. They start in order and live equally long, so only the oldest need be looked
 * at; a timer per try would cost more than it tells.
 */
export class Flights<Own extends Flight> {
  readonly #options: FlightsOptions<Own>;
  readonly #fresh = new Set<Own>();
  readonly #slow = new Set<Own>();
  readonly #sweepMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FlightsOptions<Own>) {
    this.#options = options;
    this.#sweepMs = Math.max(5, Math.min(SWEEP_MS_MAX, options.slowMs / 4, options.timeoutMs / 10));
  }

  get size(): number {
    return this.#fresh.size + this.#slow.size;
  }

  get slow(): number {
    return this.#slow.size;
  }

  add(flight: Own): void {
    this.#fresh.add(flight);
    this.#timer ??= setTimeout(() => this.#sweep(), this.#sweepMs);
  }

  remove(flight: Own): void {
    if (!this.#fresh.delete(flight)) this.#slow.delete(flight);
  }

  cancelAll(error: string): void {
    for (const flight of [...this.#slow, ...this.#fresh]) flight.post.cancel(error);
  }

  #sweep(): void {
    this.#timer = undefined;
    const nowMs = this.#options.monotonicMs();
    for (const flight of this.#fresh) {
      if (nowMs - flight.startedAtMs < this.#options.slowMs) break;
      this.#fresh.delete(flight);
      this.#slow.add(flight);
      flight.isSlow = true;
      this.#options.onSlow(flight);
    }
    for (const flight of this.#slow) {
      if (nowMs - flight.startedAtMs < this.#options.timeoutMs) break;
      flight.post.cancel(`no complete answer within ${this.#options.timeoutMs} ms`);
    }
    if (this.size > 0) this.#timer ??= setTimeout(() => this.#sweep(), this.#sweepMs);
  }
}
