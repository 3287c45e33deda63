import type { Dispatcher } from 'undici';
import { type DeliveryResult, type DueDelivery, type EndpointRef, laneKey } from './delivery.ts';
import { type Flight, Flights } from './flights.ts';
import type { FetchedDelivery, LaneStore } from './lane-store.ts';
import { type Lane, type LaneLimits, type LaneRead, Lanes } from './lanes.ts';
import { type DeliveryLoaders, loadDeliveries, type ReadyDelivery } from './loading.ts';
import { Post } from './post.ts';
import type { Recorder } from './recorder.ts';
import type { ResultStore } from './result-store.ts';
import { type ResultRules, toAbandoned, toResult } from './results.ts';
import type { TryOutcome } from './schedule.ts';
import type { BuildRequest } from './sender.ts';
import { Timers } from './timers.ts';

export interface DispatchLoopOptions extends DeliveryLoaders {
  readonly lanes: LaneStore;
  readonly results: ResultStore;
  readonly recorder: Recorder;
  readonly agent: Dispatcher;
  readonly buildRequest: BuildRequest;
  readonly rules: ResultRules;
  readonly limits: LaneLimits;
  readonly timeoutMs: number;
  readonly slowMs: number;
  /** Later rows are left to a later poll. */
  readonly horizonMs: number;
  /** An endpoint without work goes back after this long, so that any process may take it. */
  readonly laneIdleMs: number;
  /** The name under which this process owns lanes; undefined while it has none. */
  readonly owner: () => string | undefined;
  readonly now: () => Date;
  readonly random: () => number;
  readonly onError: (error: unknown) => void;
}

interface LaneFlight extends Flight {
  readonly lane: Lane<ReadyDelivery>;
}

const ERROR_PAUSE_MS = 500;
/** Rows whose endpoints or events could not be read are put off for this long. */
const UNREADABLE_DELAY_MS = 2_000;
const UNRECORDED_MAX = 4_000;
const UNRECORDED_PAUSE_MS = 20;
/** Lanes that came up empty are asked together for the time of their next row. */
const NEXT_DUE_DELAY_MS = 25;

function groupByLane(rows: readonly FetchedDelivery[]): Map<string, FetchedDelivery[]> {
  const groups = new Map<string, FetchedDelivery[]>();
  for (const row of rows) {
    const key = laneKey(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

/** Takes lanes with due rows, reads what belongs to them, sends it, and hands the results to the recorder. */
export class DispatchLoop {
  readonly #options: DispatchLoopOptions;
  readonly #lanes: Lanes<ReadyDelivery>;
  readonly #flights: Flights<LaneFlight>;
  readonly #emptied = new Map<string, EndpointRef>();
  #emptiedSince = new Date(0);
  readonly #timers = new Timers<'pump' | 'sleepers' | 'emptied'>();
  #isRunning = false;
  #isForgetting = false;
  #pausedUntilMs = 0;
  #isAsked = false;
  #pumping: Promise<void> | undefined;
  #settledWhileReading: DeliveryResult[] | undefined;
  #onGrounded: (() => void) | undefined;

  constructor(options: DispatchLoopOptions) {
    this.#options = options;
    this.#lanes = new Lanes(options.limits);
    this.#flights = new Flights({
      timeoutMs: options.timeoutMs,
      slowMs: options.slowMs,
      monotonicMs: () => performance.now(),
      onSlow: ({ lane }) => {
        this.#lanes.noteSlow(lane);
        this.#sendReady();
        this.pump();
      },
    });
  }

  get stats() {
    return {
      lanes: this.#lanes.size,
      inFlight: this.#flights.size,
      slow: this.#flights.slow,
      buffered: this.#lanes.buffered,
    };
  }

  start(): void {
    this.#isRunning = true;
  }

  /** What is under way may end by itself until the time is up; what is cut then counts as never sent. */
  async stop(drainMs: number): Promise<void> {
    this.#isRunning = false;
    this.#timers.clear();
    await this.#pumping;
    this.#timers.clear();
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

  wake(refs: readonly EndpointRef[]): void {
    for (const ref of refs) this.#lanes.wake(ref);
    this.pump();
  }

  /** This process lost its name, and every lane with it. */
  disown(): void {
    this.#lanes.disownAll((ready) => ready.row.id);
    this.#lanes.reconsiderForeign();
  }

  /** What a look into the database found; it also is the moment to give idle lanes back. */
  expectRows(found: readonly (EndpointRef & { readonly dueAt: Date })[]): void {
    this.#lanes.reconsiderForeign();
    for (const { dueAt, ...ref } of found) this.#expectRow(ref, dueAt);
    this.#wakeSleepers();
  }

  /** The lane has a row at this time: now, soon, or too late to keep it in mind. */
  #expectRow(ref: EndpointRef, dueAt: Date): void {
    const nowMs = this.#options.now().getTime();
    const dueAtMs = dueAt.getTime();
    if (dueAtMs <= nowMs) this.#lanes.wake(ref);
    else if (dueAtMs <= nowMs + this.#options.horizonMs) this.#lanes.sleepUntil(ref, dueAtMs);
  }

  /** The results are written. A read that began before may still show their rows as due, so it must end first. */
  noteSettled(results: readonly DeliveryResult[]): void {
    if (this.#settledWhileReading !== undefined) this.#settledWhileReading.push(...results);
    else for (const result of results) this.#lanes.settle(result, result.id);
    let hasRetries = false;
    for (const result of results) {
      if (result.nextAttemptAt === null) continue;
      this.#expectRow(result, result.nextAttemptAt);
      hasRetries = true;
    }
    if (hasRetries) this.#wakeSleepers();
  }

  #wakeSleepers(): void {
    const nowMs = this.#options.now().getTime();
    const earliestMs = this.#lanes.wakeSleepers(nowMs);
    if (Number.isFinite(earliestMs)) {
      this.#timers.set('sleepers', Math.max(1, earliestMs - nowMs), () => this.#wakeSleepers());
    }
    this.pump();
  }

  /** Reads as long as there is room and something due; asked again while it works, it looks once more at the end. */
  pump(): void {
    this.#isAsked = true;
    if (!this.#isRunning || this.#pumping !== undefined) return;
    const pauseMs = this.#pausedUntilMs - performance.now();
    if (pauseMs > 0) this.#timers.set('pump', pauseMs, () => this.pump());
    else {
      this.#pumping = this.#run().finally(() => {
        this.#pumping = undefined;
        if (this.#isAsked) this.pump();
      });
    }
  }

  async #run(): Promise<void> {
    this.#isAsked = false;
    try {
      await this.#releaseIdle();
      while (this.#isRunning) {
        const owner = this.#options.owner();
        if (owner === undefined) return;
        if (this.#options.recorder.size > UNRECORDED_MAX) return this.#pause(UNRECORDED_PAUSE_MS);
        const reads = this.#lanes.chooseReads();
        if (reads.length === 0) return;
        await this.#read(owner, await this.#acquire(owner, reads));
      }
    } catch (error) {
      this.#options.onError(error);
      this.#pause(ERROR_PAUSE_MS);
    }
  }

  #pause(pauseMs: number): void {
    this.#pausedUntilMs = performance.now() + pauseMs;
    this.#isAsked = true;
  }

  async #releaseIdle(): Promise<void> {
    const owner = this.#options.owner();
    const nowMs = performance.now();
    const idle = this.#lanes.findIdle(nowMs, nowMs - this.#options.laneIdleMs);
    if (owner === undefined || idle.length === 0) return;
    await this.#options.lanes.releaseLanes(owner, idle);
    for (const lane of idle) lane.isOwned = false;
  }

  async #acquire(
    owner: string,
    reads: readonly LaneRead<ReadyDelivery>[],
  ): Promise<LaneRead<ReadyDelivery>[]> {
    const wanted = reads.filter(({ lane }) => !lane.isOwned).map(({ lane }) => lane);
    if (wanted.length > 0) {
      const acquired = new Set((await this.#options.lanes.acquireLanes(owner, wanted)).map(laneKey));
      for (const lane of wanted) {
        lane.isOwned = acquired.has(lane.key) && owner === this.#options.owner();
        if (!lane.isOwned) this.#lanes.leaveToOther(lane);
      }
    }
    return reads.filter(({ lane }) => lane.isOwned);
  }

  async #read(owner: string, reads: readonly LaneRead<ReadyDelivery>[]): Promise<void> {
    if (reads.length === 0) return;
    const rows: FetchedDelivery[] = [];
    const at = this.#options.now();
    if (this.#emptied.size === 0) this.#emptiedSince = at;
    this.#settledWhileReading = [];
    try {
      const wishes = reads.map(({ wish }) => wish);
      const groups = groupByLane(await this.#options.lanes.fetchDue(owner, wishes, at));
      for (const read of reads) {
        rows.push(...this.#lanes.takeRead(read, groups.get(read.lane.key) ?? []));
        if (!read.lane.isDue) this.#emptied.set(read.lane.key, read.lane);
      }
    } finally {
      const settled = this.#settledWhileReading;
      this.#settledWhileReading = undefined;
      for (const result of settled) this.#lanes.settle(result, result.id);
    }
    if (rows.length > 0) await this.#prepare(rows);
    if (this.#emptied.size > 0 && !this.#timers.has('emptied')) {
      this.#timers.set('emptied', NEXT_DUE_DELAY_MS, () => void this.#askEmptied());
    }
  }

  async #askEmptied(): Promise<void> {
    const refs = [...this.#emptied.values()];
    const since = this.#emptiedSince;
    this.#emptied.clear();
    try {
      for (const { dueAt, ...ref } of await this.#options.lanes.nextDue(refs, since))
        this.#expectRow(ref, dueAt);
      this.#wakeSleepers();
    } catch (error) {
      // The next poll finds these rows as well.
      this.#options.onError(error);
    }
  }

  async #prepare(rows: readonly DueDelivery[]): Promise<void> {
    const { recorder, rules, now } = this.#options;
    try {
      const { ready, orphaned } = await loadDeliveries(rows, this.#options);
      for (const item of ready) this.#lanes.add(this.#lanes.lane(item.row), item);
      for (const row of orphaned) recorder.add(toAbandoned(row, rules, now()));
    } catch (error) {
      await this.#putOff(rows);
      throw error;
    }
    this.#sendReady();
  }

  async #putOff(rows: readonly DueDelivery[]): Promise<void> {
    const notBefore = new Date(this.#options.now().getTime() + UNREADABLE_DELAY_MS);
    try {
      await this.#options.results.delay(rows, notBefore);
    } finally {
      for (const row of rows) this.#lanes.settle(row, row.id);
    }
    for (const row of rows) this.#expectRow(row, notBefore);
    this.#wakeSleepers();
  }

  #sendReady(): void {
    while (this.#isRunning) {
      const next = this.#lanes.takeNext();
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
      const event = { id: ready.row.eventId, body: ready.body };
      post.start(this.#options.agent, this.#options.buildRequest(ready.target, event, startedAt));
    } catch (error) {
      // A stored address or secret that cannot be used fails this delivery, and no other.
      post.cancel(error instanceof Error ? error.message : 'the request could not be made');
    }
  }

  #finish(flight: LaneFlight, ready: ReadyDelivery, startedAt: Date, outcome: TryOutcome): void {
    const { recorder, rules, now, random } = this.#options;
    const { lane } = flight;
    this.#flights.remove(flight);
    this.#lanes.finish(lane, { wasSlow: flight.isSlow });
    if (!this.#isForgetting) {
      const durationMs = performance.now() - flight.startedAtMs;
      const finished = { row: ready.row, url: ready.target.url, startedAt, durationMs, outcome };
      recorder.add(toResult(finished, rules, now(), random));
    }
    if (this.#flights.size === 0) this.#onGrounded?.();
    this.#sendReady();
    if (this.#lanes.wantsRows(lane)) this.pump();
  }
}
