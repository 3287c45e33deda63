import type { Poster } from '@libs/egress';
import { parseTraceparent } from '@libs/runtime';
import { type Flight, Flights } from './flights.ts';
import type { Lane, Lanes } from './lanes.ts';
import type { ReadyDelivery } from './loading.ts';
import { Post } from './post.ts';
import type { Recorder } from './recorder.ts';
import type { BuildRequest } from './request.ts';
import { type ResultRules, toResult } from './results.ts';
import type { TryOutcome } from './schedule.ts';

export interface SendingOptions {
  readonly lanes: Lanes<ReadyDelivery>;
  readonly recorder: Recorder;
  readonly poster: Poster;
  readonly buildRequest: BuildRequest;
  readonly rules: ResultRules;
  readonly timeoutMs: number;
  readonly slowMs: number;
  readonly now: () => Date;
  readonly random: () => number;
  /** Called when a lane may have room for more rows. */
  readonly onRoom: (lane: Lane<ReadyDelivery>) => void;
}

interface LaneFlight extends Flight {
  readonly lane: Lane<ReadyDelivery>;
}

/** Sends what the lanes hold ready, as far as their windows allow, and hands the results to the recorder. */
export class Sending {
  readonly #options: SendingOptions;
  readonly #flights: Flights<LaneFlight>;
  #isClosed = false;
  #isForgetting = false;
  readonly #roomy = new Set<Lane<ReadyDelivery>>();
  #onGrounded: (() => void) | undefined;

  constructor(options: SendingOptions) {
    this.#options = options;
    this.#flights = new Flights({
      timeoutMs: options.timeoutMs,
      slowMs: options.slowMs,
      monotonicMs: () => performance.now(),
      onSlow: ({ lane }) => {
        options.lanes.noteSlow(lane);
        this.sendReady();
        options.onRoom(lane);
      },
    });
  }

  get stats() {
    return { inFlight: this.#flights.size, slow: this.#flights.slow };
  }

  /** What is under way may end by itself until the time is up; what is cut then counts as never sent. */
  async close(drainMs: number): Promise<void> {
    this.#isClosed = true;
    if (this.#flights.size === 0) return;
    await new Promise<void>((grounded) => {
      const timer = setTimeout(() => {
        this.#isForgetting = true;
        this.#flights.cancelAll('the sender stops');
      }, drainMs);
      this.#onGrounded = () => {
        clearTimeout(timer);
        grounded();
      };
    });
  }

  sendReady(): void {
    while (!this.#isClosed) {
      const next = this.#options.lanes.takeNext();
      if (next === undefined) return;
      this.#send(next.lane, next.item);
    }
  }

  #send(lane: Lane<ReadyDelivery>, ready: ReadyDelivery): void {
    const startedAt = this.#options.now();
    const post = new Post((outcome) => this.#finish(flight, ready, startedAt, outcome));
    const flight: LaneFlight = { post, lane, startedAtMs: performance.now(), isSlow: false };
    this.#flights.add(flight);
    try {
      const { eventId: id, traceparent } = ready.row;
      const event = { id, body: ready.body, trace: parseTraceparent(traceparent ?? undefined) };
      post.start(this.#options.poster, this.#options.buildRequest(ready.target, event, startedAt));
    } catch (error) {
      // A stored address or secret that cannot be used fails this delivery, and no other.
      post.cancel(error instanceof Error ? error.message : 'the request could not be made');
    }
  }

  #finish(flight: LaneFlight, ready: ReadyDelivery, startedAt: Date, outcome: TryOutcome): void {
    const { lanes, recorder, rules, now, random } = this.#options;
    this.#flights.remove(flight);
    lanes.finish(flight.lane, { wasSlow: flight.isSlow });
    if (!this.#isForgetting) {
      const durationMs = performance.now() - flight.startedAtMs;
      const finished = { row: ready.row, url: ready.target.url, startedAt, durationMs, outcome };
      recorder.add(toResult(finished, rules, now(), random));
    }
    if (this.#flights.size === 0) this.#onGrounded?.();
    this.#refillSoon(flight.lane);
  }

  /**
   * What follows is sent when all answers of this turn of the event loop are read: sent between two answers, each
   * request wakes a receiver that has just gone back to sleep.
   */
  #refillSoon(lane: Lane<ReadyDelivery>): void {
    this.#roomy.add(lane);
    if (this.#roomy.size > 1) return;
    setImmediate(() => {
      const lanes = [...this.#roomy];
      this.#roomy.clear();
      this.sendReady();
      for (const roomy of lanes) this.#options.onRoom(roomy);
    });
  }
}
