import { type EndpointRef, laneKey } from './delivery.ts';
import type { FetchedDelivery, LaneWish, QueueCursor } from './lane-store.ts';

/** One endpoint's share of the sender: what is under way, what waits in memory, and what the database may still hold. */
export interface Lane<Item> extends EndpointRef {
  readonly key: string;
  /** This process alone sends to the endpoint. */
  isOwned: boolean;
  /** How many may be under way; grows with quick answers, falls when the endpoint is slow. */
  window: number;
  inFlight: number;
  /** Read and ready to send. */
  readonly buffer: Item[];
  /** Rows that are read and whose result is not yet written: the database still calls them due. */
  readonly busy: Set<string>;
  /** How far the queue has been read in this pass. */
  cursor: QueueCursor | undefined;
  /** There may be rows to read. */
  isDue: boolean;
  /** Tells a reader that found nothing more whether rows were announced while it read. */
  wakes: number;
  /** The known moment of the next row, for lanes that are not due. */
  dueAtMs: number;
  /** Rows were committed here that their announcement may not have told others of. */
  isUntold: boolean;
  /** The database may hold later rows that were never noted here. */
  mayHaveLater: boolean;
  idleSinceMs: number;
}

export interface LaneLimits {
  /** At most this many under way to one endpoint. */
  readonly perEndpoint: number;
  /** At most this many under way in all, slow ones not counted. */
  readonly total: number;
}

export interface LaneRead<Item> {
  readonly lane: Lane<Item>;
  readonly wish: LaneWish;
  readonly wakes: number;
}

const WINDOW_START = 8;
/** What a slow endpoint keeps: a few at a time, so that it costs little and still gets on. */
const WINDOW_SLOW = 4;
/** From this window on an endpoint is quick enough to hold the next rows ready for it: this many times the window. */
const PREFETCH_WINDOW_MIN = 16;
const PREFETCH_FACTOR = 8;
/** Slow tries may be this many times the total; beyond it they count like any other. */
const SLOW_FACTOR = 8;
const ROWS_PER_READ_MAX = 500;
const SETTLED_KEPT = 5_000;
const LANES_PER_READ_MAX = 200;

/** Fairness lives here: pure bookkeeping, no I/O and no clock. */
export class Lanes<Item> {
  readonly #limits: LaneLimits;
  readonly #idOf: (item: Item) => string;
  readonly #lanes = new Map<string, Lane<Item>>();
  /** In the order in which they get their turn; who was served goes to the end. */
  readonly #due = new Map<string, Lane<Item>>();
  readonly #sleeping = new Map<string, Lane<Item>>();
  readonly #sendable = new Set<Lane<Item>>();
  /** Lanes of other processes, which hear of new rows as we do. */
  readonly #foreign = new Set<string>();
  /** Rows that were settled lately, in two generations: an offer may come after the row was read and sent. */
  #settledNow = new Set<string>();
  #settledBefore = new Set<string>();
  #buffered = 0;
  /** Under way and not slow. */
  #fresh = 0;
  #slow = 0;

  constructor(limits: LaneLimits, idOf: (item: Item) => string) {
    this.#limits = limits;
    this.#idOf = idOf;
  }

  get size(): number {
    return this.#lanes.size;
  }

  get buffered(): number {
    return this.#buffered;
  }

  lane(ref: EndpointRef): Lane<Item> {
    const key = laneKey(ref);
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const lane: Lane<Item> = {
      key,
      tenantId: ref.tenantId,
      endpointId: ref.endpointId,
      isOwned: false,
      window: Math.min(WINDOW_START, this.#limits.perEndpoint),
      inFlight: 0,
      buffer: [],
      busy: new Set(),
      cursor: undefined,
      isDue: false,
      wakes: 0,
      dueAtMs: Number.POSITIVE_INFINITY,
      isUntold: false,
      mayHaveLater: true,
      idleSinceMs: Number.POSITIVE_INFINITY,
    };
    this.#lanes.set(key, lane);
    return lane;
  }

  /** `isFirst`: only the first row of the lane is known, and others may be due after it. */
  wake(ref: EndpointRef, isFirst = false): void {
    if (this.#foreign.has(laneKey(ref))) return;
    const lane = this.lane(ref);
    lane.wakes += 1;
    if (isFirst) lane.mayHaveLater = true;
    // The row it sleeps for may be later than this wake, and is asked for again when the lane comes up empty.
    if (this.#sleeping.delete(lane.key)) lane.mayHaveLater = true;
    lane.dueAtMs = Number.POSITIVE_INFINITY;
    if (lane.isDue) return;
    lane.isDue = true;
    this.#due.set(lane.key, lane);
  }

  /** The lane has its next row at this time, if nothing earlier is known. */
  sleepUntil(ref: EndpointRef, dueAtMs: number): void {
    if (this.#foreign.has(laneKey(ref))) return;
    const lane = this.lane(ref);
    if (lane.isDue) lane.mayHaveLater = true;
    if (lane.isDue || dueAtMs >= lane.dueAtMs) return;
    lane.dueAtMs = dueAtMs;
    this.#sleeping.set(lane.key, lane);
  }

  /** Wakes the lanes whose time has come and gives the time of the next one. */
  wakeSleepers(nowMs: number): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const lane of this.#sleeping.values()) {
      if (lane.dueAtMs <= nowMs) this.wake(lane);
      else earliest = Math.min(earliest, lane.dueAtMs);
    }
    return earliest;
  }

  #target(lane: Lane<Item>): number {
    return lane.window >= PREFETCH_WINDOW_MIN ? lane.window * PREFETCH_FACTOR : lane.window;
  }

  // Rows are read in batches: a lane asks again when a part of what it may hold is gone.
  #missing(lane: Lane<Item>): number {
    const target = this.#target(lane);
    const missing = target - lane.inFlight - lane.buffer.length;
    return missing * 2 >= target ? missing : 0;
  }

  #room(): number {
    return this.#limits.total * PREFETCH_FACTOR - this.#fresh - this.#buffered;
  }

  wantsRows(lane: Lane<Item>): boolean {
    return lane.isDue && this.#missing(lane) > 0 && this.#room() > 0;
  }

  /** Shares the room between the lanes that want rows; those at the front of the queue first. */
  chooseReads(): LaneRead<Item>[] {
    let room = Math.min(this.#room(), ROWS_PER_READ_MAX);
    const wanting: Lane<Item>[] = [];
    for (const lane of this.#due.values()) {
      if (wanting.length >= LANES_PER_READ_MAX) break;
      if (this.#missing(lane) > 0) wanting.push(lane);
    }
    const share = Math.max(1, Math.floor(room / Math.max(1, wanting.length)));
    const reads: LaneRead<Item>[] = [];
    for (const lane of wanting) {
      if (room <= 0) break;
      const rows = Math.min(this.#missing(lane), share, room);
      room -= rows;
      // A pass from the start meets the busy rows again, so it asks for as many more.
      const rowsMax = lane.cursor === undefined ? rows + lane.busy.size : rows;
      const { tenantId, endpointId, cursor: after, wakes } = lane;
      reads.push({ lane, wakes, wish: { tenantId, endpointId, rowsMax, after } });
      this.#due.delete(lane.key);
      this.#due.set(lane.key, lane);
    }
    return reads;
  }

  /**
   * Takes what a read gave: the rows that are not being worked on already. At the end of a pass the lane is read once
   * more from the start, where late commits may have put rows; a pass from the start that ends finds the lane empty.
   */
  takeRead(read: LaneRead<Item>, rows: readonly FetchedDelivery[]): FetchedDelivery[] {
    const { lane, wish } = read;
    const taken = rows.filter((row) => !lane.busy.has(row.id));
    for (const row of taken) lane.busy.add(row.id);
    const last = rows.at(-1);
    if (last !== undefined && rows.length >= wish.rowsMax) lane.cursor = { at: last.at, id: last.id };
    else if (lane.cursor !== undefined) lane.cursor = undefined;
    else if (lane.wakes === read.wakes) this.#rest(lane);
    return taken;
  }

  #rest(lane: Lane<Item>): void {
    lane.isDue = false;
    this.#due.delete(lane.key);
  }

  /** Its rows stay in the queue until then, as if nothing were known of them. */
  leaveUntil(lane: Lane<Item>, dueAtMs: number): void {
    this.#rest(lane);
    lane.cursor = undefined;
    this.sleepUntil(lane, dueAtMs);
  }

  /** What its last owner left behind is not known here. */
  own(lane: Lane<Item>): void {
    lane.isOwned = true;
    lane.isUntold = false;
    lane.mayHaveLater = true;
  }

  /** True when its owner must be told of rows that were committed here. */
  leaveToOther(lane: Lane<Item>): boolean {
    const { isUntold } = lane;
    lane.isUntold = false;
    this.#rest(lane);
    this.#foreign.add(lane.key);
    return isUntold;
  }

  /** Other processes may have ended or given lanes back. */
  reconsiderForeign(): void {
    this.#foreign.clear();
  }

  add(lane: Lane<Item>, item: Item): void {
    lane.buffer.push(item);
    this.#buffered += 1;
    if (lane.inFlight < lane.window) this.#sendable.add(lane);
  }

  /** The next item to send, one lane after the other; undefined when the limits are reached. */
  takeNext(): { lane: Lane<Item>; item: Item } | undefined {
    if (this.#fresh >= this.#limits.total) return undefined;
    for (const lane of this.#sendable) {
      this.#sendable.delete(lane);
      if (lane.inFlight >= lane.window) continue;
      const item = lane.buffer.shift();
      if (item === undefined) continue;
      this.#buffered -= 1;
      lane.inFlight += 1;
      this.#fresh += 1;
      if (lane.buffer.length > 0 && lane.inFlight < lane.window) this.#sendable.add(lane);
      return { lane, item };
    }
    return undefined;
  }

  /**
   * A try that takes long stops counting against the others, and its endpoint gets fewer at a time. What was read ahead for it while
   * it was quick is left in the queue, to be read when its turn comes: it would take room from others, and leave for an address
   * that its owner may have changed long before.
   */
  noteSlow(lane: Lane<Item>): void {
    lane.window = Math.min(WINDOW_SLOW, this.#limits.perEndpoint);
    if (lane.buffer.length > 0) {
      this.#forgetBuffer(lane);
      this.wake(lane);
    }
    this.#slow += 1;
    if (this.#slow <= this.#limits.total * SLOW_FACTOR) this.#fresh -= 1;
  }

  finish(lane: Lane<Item>, how: { readonly wasSlow: boolean }): void {
    lane.inFlight -= 1;
    if (how.wasSlow) {
      if (this.#slow > this.#limits.total * SLOW_FACTOR) this.#fresh -= 1;
      this.#slow -= 1;
    } else {
      this.#fresh -= 1;
      lane.window = Math.min(lane.window + 1, this.#limits.perEndpoint);
    }
    if (lane.buffer.length > 0 && lane.inFlight < lane.window) this.#sendable.add(lane);
  }

  /** The result is written, so the database no longer calls the row due. */
  settle(ref: EndpointRef, id: string): void {
    this.#lanes.get(laneKey(ref))?.busy.delete(id);
    this.#settledNow.add(id);
    if (this.#settledNow.size < SETTLED_KEPT) return;
    this.#settledBefore = this.#settledNow;
    this.#settledNow = new Set();
  }

  /**
   * A row that this process has just committed. It is `taken` without reading it, when the lane is ours and everything
   * before it has been read; otherwise it is `left` in the queue, from where it is read in its turn. When the lane is
   * another process's, that process must be told.
   */
  takeOffer(ref: EndpointRef, id: string): 'taken' | 'left' | 'foreign' {
    if (this.#foreign.has(laneKey(ref))) return 'foreign';
    const lane = this.lane(ref);
    if (lane.busy.has(id) || this.#settledNow.has(id) || this.#settledBefore.has(id)) return 'left';
    const hasRoom = lane.inFlight + lane.buffer.length < this.#target(lane) && this.#room() > 0;
    if (lane.isOwned && !lane.isDue && hasRoom) {
      lane.busy.add(id);
      return 'taken';
    }
    lane.isUntold = !lane.isOwned;
    this.wake(ref);
    return 'left';
  }

  /** Owned lanes that have had nothing to do since before `beforeMs`; called now and then, which is how idleness is seen. */
  findIdle(nowMs: number, beforeMs: number): Lane<Item>[] {
    const idle: Lane<Item>[] = [];
    for (const lane of this.#lanes.values()) {
      if (lane.busy.size > 0 || lane.isDue || this.#sleeping.has(lane.key))
        lane.idleSinceMs = Number.POSITIVE_INFINITY;
      else if (!lane.isOwned) this.#lanes.delete(lane.key);
      else {
        lane.idleSinceMs = Math.min(lane.idleSinceMs, nowMs);
        if (lane.idleSinceMs <= beforeMs) idle.push(lane);
      }
    }
    return idle;
  }

  /** Its endpoint was switched off: what was read ahead for it is given up in the queue, and not sent. */
  forgetAhead(ref: EndpointRef): void {
    const lane = this.#lanes.get(laneKey(ref));
    if (lane !== undefined) this.#forgetBuffer(lane);
  }

  #forgetBuffer(lane: Lane<Item>): void {
    this.#buffered -= lane.buffer.length;
    for (const item of lane.buffer.splice(0)) lane.busy.delete(this.#idOf(item));
    lane.cursor = undefined;
  }

  /** Nothing is owned any more: what is under way ends by itself, what waits in memory is forgotten. */
  disownAll(): void {
    for (const lane of this.#lanes.values()) {
      this.#forgetBuffer(lane);
      lane.isOwned = false;
    }
    this.#sendable.clear();
  }
}
