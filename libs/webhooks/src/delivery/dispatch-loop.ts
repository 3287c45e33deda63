import type { Poster } from '@libs/egress';
import type { Announced } from './announcement.ts';
import type { Announcer } from './announcer.ts';
import {
  type DeliveryResult,
  type DueDelivery,
  type EndpointRef,
  eventKey,
  laneKey,
  type QueuedDelivery,
} from './delivery.ts';
import type { FetchedDelivery, LaneStore } from './lane-store.ts';
import { type LaneLimits, type LaneRead, Lanes } from './lanes.ts';
import { type DeliveryLoaders, loadDeliveries, type ReadyDelivery } from './loading.ts';
import type { Recorder } from './recorder.ts';
import type { BuildRequest } from './request.ts';
import type { ResultStore } from './result-store.ts';
import { type ResultRules, toAbandoned } from './results.ts';
import { Sending } from './sending.ts';
import type { TenantServers } from './tenant-servers.ts';
import { Timers } from './timers.ts';

export interface DispatchLoopOptions extends DeliveryLoaders {
  readonly lanes: LaneStore;
  readonly servers: TenantServers;
  readonly results: ResultStore;
  readonly recorder: Recorder;
  readonly poster: Poster;
  readonly buildRequest: BuildRequest;
  readonly rules: ResultRules;
  readonly limits: LaneLimits;
  readonly timeoutMs: number;
  readonly slowMs: number;
  /** Later rows are left to a later poll. */
  readonly horizonMs: number;
  /** An endpoint without work goes back after this long, so that any process may take it. */
  readonly laneIdleMs: number;
  readonly announcer: Announcer;
  /** The name under which this process owns lanes; undefined while it has none. */
  readonly owner: () => string | undefined;
  readonly now: () => Date;
  readonly random: () => number;
  readonly onError: (error: unknown) => void;
}

/** A committed row with the body of its event. */
export interface OfferedDelivery extends QueuedDelivery {
  readonly body: string;
  readonly traceparent?: string | null;
}

type Read = LaneRead<ReadyDelivery>;

const ERROR_PAUSE_MS = 500;
/** Rows whose endpoints or events could not be read are put off for this long. */
const UNREADABLE_DELAY_MS = 2_000;
/** The same for those whose tenant's server is away. */
const AWAY_DELAY_MS = 2_000;
/** Longer than this nobody waits for the server of others, though it was there a moment ago. */
const PREPARING_MS_MAX = 1_000;
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

/** Waits for work that goes on by itself, and no longer than this. */
async function withinMs(work: Promise<unknown>, timeMs: number): Promise<void> {
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
  const timer = setTimeout(end, timeMs);
  await Promise.race([work, isOver]);
  clearTimeout(timer);
}

/** Takes lanes with due rows, reads the rows and what belongs to them, and gives them to be sent. */
export class DispatchLoop {
  readonly #options: DispatchLoopOptions;
  readonly #lanes: Lanes<ReadyDelivery>;
  readonly #sending: Sending;
  readonly #timers = new Timers<'pump' | 'sleepers' | 'emptied'>();
  readonly #emptied = new Map<string, EndpointRef>();
  #emptiedSince = new Date(0);
  #isRunning = false;
  #isAsked = false;
  #pausedUntilMs = 0;
  #idleCheckAtMs = 0;
  #pumping: Promise<void> | undefined;
  #settledWhileReading: DeliveryResult[] | undefined;
  /** For each batch that is being prepared: the lanes whose endpoint was switched off meanwhile. */
  readonly #offWhilePreparing = new Set<Set<string>>();

  constructor(options: DispatchLoopOptions) {
    this.#options = options;
    this.#lanes = new Lanes(options.limits, ({ row }) => row.id);
    this.#sending = new Sending({
      ...options,
      lanes: this.#lanes,
      onRoom: (lane) => {
        if (this.#lanes.wantsRows(lane)) this.pump();
      },
    });
  }

  get stats() {
    return { lanes: this.#lanes.size, buffered: this.#lanes.buffered, ...this.#sending.stats };
  }

  start(): void {
    this.#isRunning = true;
  }

  async stop(drainMs: number): Promise<void> {
    this.#isRunning = false;
    this.#timers.close();
    await this.#pumping;
    await this.#sending.close(drainMs);
  }

  /** Rows were added, or an endpoint was switched off, which may be on again by now. */
  hear(announced: readonly Announced[]): void {
    for (const { isOff, ...ref } of announced) {
      if (isOff) {
        this.#lanes.forgetAhead(ref);
        for (const off of this.#offWhilePreparing) off.add(laneKey(ref));
      }
      this.#lanes.wake(ref);
    }
    this.pump();
  }

  /** Sends rows that were just committed here, without reading them back, as far as their lanes are ours and free. */
  offer(deliveries: readonly OfferedDelivery[]): void {
    const owner = this.#options.owner();
    if (owner === undefined || !this.#isRunning) {
      this.#options.announcer.tell(deliveries);
      return;
    }
    const taken: OfferedDelivery[] = [];
    for (const delivery of deliveries) {
      const outcome = this.#lanes.takeOffer(delivery, delivery.id);
      if (outcome === 'taken') taken.push(delivery);
      else if (outcome === 'foreign') this.#options.announcer.tell([delivery]);
    }
    if (taken.length > 0) {
      const bodies = new Map(taken.map((one) => [eventKey(one), one.body]));
      const rows = taken.map((one) => ({ ...one, tries: 0, step: 0, early: false }));
      this.#prepare(owner, rows, bodies).catch(this.#options.onError);
    }
    this.pump();
  }

  /** This process lost its name, and every lane with it. */
  disown(): void {
    this.#lanes.disownAll();
    this.#lanes.reconsiderForeign();
  }

  /** What a look into the database found. */
  expectRows(found: readonly (EndpointRef & { readonly dueAt: Date })[]): void {
    this.#lanes.reconsiderForeign();
    for (const { dueAt, ...ref } of found) this.#expectRow(ref, dueAt);
    this.#wakeSleepers();
  }

  /** The lane has a row at this time: now, soon, or too late to keep it in mind. */
  #expectRow(ref: EndpointRef, dueAt: Date): void {
    const nowMs = this.#options.now().getTime();
    const dueAtMs = dueAt.getTime();
    if (dueAtMs <= nowMs) this.#lanes.wake(ref, true);
    else if (dueAtMs <= nowMs + this.#options.horizonMs) this.#lanes.sleepUntil(ref, dueAtMs);
  }

  /** The results are written. A read that began before may still show their rows as due, so it must end first. */
  noteSettled(results: readonly DeliveryResult[]): void {
    if (this.#settledWhileReading !== undefined) this.#settledWhileReading.push(...results);
    else for (const result of results) this.#lanes.settle(result, result.id);
    const retries = results.filter((result) => result.nextAttemptAt !== null);
    for (const result of retries) this.#expectRow(result, result.nextAttemptAt as Date);
    if (retries.length > 0) this.#wakeSleepers();
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
      for (
        let owner = this.#options.owner();
        this.#isRunning && owner !== undefined;
        owner = this.#options.owner()
      ) {
        await this.#releaseIdle(owner);
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

  async #releaseIdle(owner: string): Promise<void> {
    const nowMs = performance.now();
    if (nowMs < this.#idleCheckAtMs) return;
    this.#idleCheckAtMs = nowMs + this.#options.laneIdleMs / 4;
    const idle = this.#lanes.findIdle(nowMs, nowMs - this.#options.laneIdleMs);
    if (idle.length === 0) return;
    // Before they are given back: a row that is committed meanwhile may be another process's already. If that fails, they are taken again.
    for (const lane of idle) lane.isOwned = false;
    await this.#options.lanes.releaseLanes(owner, idle);
  }

  async #acquire(owner: string, reads: readonly Read[]): Promise<Read[]> {
    const wanted = reads.filter(({ lane }) => !lane.isOwned).map(({ lane }) => lane);
    if (wanted.length > 0) {
      const acquired = new Set((await this.#options.lanes.acquireLanes(owner, wanted)).map(laneKey));
      if (owner !== this.#options.owner()) return [];
      for (const lane of wanted) {
        if (acquired.has(lane.key)) this.#lanes.own(lane);
        else if (this.#lanes.leaveToOther(lane)) this.#options.announcer.tell([lane]);
      }
    }
    return reads.filter(({ lane }) => lane.isOwned);
  }

  async #read(owner: string, reads: readonly Read[]): Promise<void> {
    if (reads.length === 0) return;
    const at = this.#options.now();
    const rows: FetchedDelivery[] = [];
    this.#settledWhileReading = [];
    try {
      const wishes = reads.map(({ wish }) => wish);
      const fetched = await this.#options.lanes.fetchDue(owner, wishes, at);
      const away = await this.#options.servers.findAway(fetched);
      // Whoever has the lanes now reads these rows too.
      if (owner !== this.#options.owner()) return;
      const groups = groupByLane(fetched);
      for (const read of reads)
        if (away.has(read.lane.tenantId)) this.#lanes.leaveUntil(read.lane, at.getTime() + AWAY_DELAY_MS);
        else rows.push(...this.#take(read, groups.get(read.lane.key) ?? [], at));
      if (away.size > 0) this.#wakeSleepers();
    } finally {
      const settled = this.#settledWhileReading;
      this.#settledWhileReading = undefined;
      for (const result of settled) this.#lanes.settle(result, result.id);
    }
    if (rows.length > 0) await this.#prepare(owner, rows);
    if (this.#emptied.size > 0 && !this.#timers.has('emptied')) {
      this.#timers.set('emptied', NEXT_DUE_DELAY_MS, () => void this.#askEmptied());
    }
  }

  #take(read: Read, found: readonly FetchedDelivery[], at: Date): FetchedDelivery[] {
    const { lane } = read;
    const taken = this.#lanes.takeRead(read, found);
    // An announced row that is not due yet, by a clock that differs from ours, must not wait for a poll.
    if (!lane.isDue && (lane.mayHaveLater || taken.length === 0)) {
      if (this.#emptied.size === 0) this.#emptiedSince = at;
      this.#emptied.set(lane.key, lane);
      lane.mayHaveLater = false;
    }
    return taken;
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

  async #prepare(
    owner: string,
    rows: readonly DueDelivery[],
    bodiesAtHand?: ReadonlyMap<string, string>,
  ): Promise<void> {
    const { servers, onError } = this.#options;
    if (!servers.areSeveral) return this.#prepareTogether(owner, rows, bodiesAtHand);
    let groups: readonly (readonly DueDelivery[])[];
    try {
      groups = await servers.group(rows);
    } catch (error) {
      await this.#putOff(rows);
      throw error;
    }
    const all = Promise.all(
      groups.map((group) => this.#prepareTogether(owner, group, bodiesAtHand).catch(onError)),
    );
    await withinMs(all, PREPARING_MS_MAX);
  }

  async #prepareTogether(
    owner: string,
    rows: readonly DueDelivery[],
    bodiesAtHand?: ReadonlyMap<string, string>,
  ): Promise<void> {
    const { recorder, rules, now } = this.#options;
    const off = new Set<string>();
    this.#offWhilePreparing.add(off);
    try {
      const { ready, orphaned } = await loadDeliveries(rows, this.#options, bodiesAtHand);
      if (owner !== this.#options.owner()) return this.#letGo(rows);
      for (const item of ready) {
        const lane = this.#lanes.lane(item.row);
        if (off.has(lane.key)) lane.busy.delete(item.row.id);
        else this.#lanes.add(lane, item);
      }
      for (const row of orphaned) recorder.add(toAbandoned(row, rules, now()));
    } catch (error) {
      await this.#putOff(rows);
      throw error;
    } finally {
      this.#offWhilePreparing.delete(off);
    }
    this.#sending.sendReady();
  }

  #letGo(rows: readonly DueDelivery[]): void {
    for (const row of rows) this.#lanes.settle(row, row.id);
  }

  async #putOff(rows: readonly DueDelivery[]): Promise<void> {
    const notBefore = new Date(this.#options.now().getTime() + UNREADABLE_DELAY_MS);
    try {
      await this.#options.results.delay(rows, notBefore);
    } finally {
      this.#letGo(rows);
    }
    for (const row of rows) this.#expectRow(row, notBefore);
    this.#wakeSleepers();
  }
}
