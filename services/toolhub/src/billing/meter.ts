import {
  createBatcher,
  type Database,
  isAwayFrom,
  isDatabaseAway,
  isRefusedData,
  type Outcome,
  outcomesOf,
  type Queryable,
} from '@libs/db';
import type { NewId } from '@libs/seal';
import { errors } from '../errors.ts';
import type { CounterState } from './counter-store.ts';
import { durationClass } from './durations.ts';
import { createHolder, type Holder } from './holder.ts';
import { createLateBatches } from './late-batches.ts';
import { reserveUnits, settleUnits } from './meter-store.ts';
import { dayOf, monthOf, nextMonthStart } from './month.ts';
import type { AskReckoned } from './reckoner.ts';
import { forgetReckoning } from './store.ts';
import type { GrantedUnits, SettledBatch, SettledUnits, UsageCount } from './units.ts';

/** One call that may run: it is counted until it is settled, or until the process that holds it is gone. */
export interface Reservation {
  readonly customerId: string;
  readonly month: string;
  /** Where its call is counted, however late it ends: the invoice of a month has the calls of its limit. */
  readonly day: string;
  readonly holder: string;
}

export type LimitCheck =
  | { kind: 'reserved'; reservation: Reservation }
  | { kind: 'limit_exceeded'; limit: number; used: number; resetsAt: Date };

export interface CallUsage {
  /** `internal` for sessions that belong to no customer. */
  customerId: string;
  /** Null for calls that no limit applies to. */
  reservation: Reservation | null;
  platform: string;
  tool: string;
  succeeded: boolean;
  /** Given back only when the call certainly did nothing; where nobody knows, it is kept. */
  unit: 'kept' | 'given_back';
  durationMs: number;
  alongside?: Alongside | undefined;
}

/** Something else that must commit together with the unit; what one writer gets from several calls goes in at once. */
export interface Alongside<Item = never> {
  item: Item;
  write(tx: Queryable, items: readonly Item[]): Promise<void>;
}

export interface Meter {
  readonly holder: Holder;
  /** Reserves one call of this month before it runs. At a limit of N exactly N pass, over all processes. */
  checkLimit(customerId: string): Promise<LimitCheck>;
  /** Keeps or gives back the unit of a call that is over, and counts the call. Never rejects. */
  settle(usage: CallUsage): Promise<void>;
  /** Gives back a unit of a call that never ran; it is no usage. Never rejects. */
  giveBack(reservation: Reservation): Promise<void>;
  close(): Promise<void>;
}

export interface MeterDependencies {
  database: Database;
  newId: NewId;
  now: () => Date;
  onError: (error: unknown) => void;
  /** Told after each write, to raise the events of thresholds that were passed. */
  onCounted: (counters: readonly CounterState[]) => void;
  askReckoned: AskReckoned;
  leaseMs?: number;
  /** How long a batch waits before it tries again; tests shorten it. */
  awayPauseMs?: number;
  /** Tests shorten these two, too. */
  awayMsMax?: number;
  lateCloseMsMax?: number;
}

const BATCH_MAX = 1_000;
const QUEUE_MAX = 20_000;
const RESERVE_ATTEMPTS_MAX = 3;
const SETTLE_ATTEMPTS_MAX = 3;
/** Postgres rolled the statement back and asks to try again. */
const TRY_AGAIN_CODES: ReadonlySet<unknown> = new Set(['40001', '40P01']);
/** So long the caller waits for the server to come back, from the first time that it was away; then the call is counted late. */
const AWAY_MS_MAX = 15_000;
const AWAY_PAUSE_MS = 500;
/** The end of a process waits no longer than this for what is counted late. */
const LATE_CLOSE_MS_MAX = 5_000;

type Settlement =
  | { kind: 'usage'; usage: CallUsage; day: string }
  | { kind: 'unused'; reservation: Reservation };

interface NumberedBatch {
  items: readonly Settlement[];
  counts: SettledBatch;
  /** The customer of all its items, where tables are spread and the server of one may be away alone; null for a batch of several. */
  customerId: string | null;
}

export function createMeter(deps: MeterDependencies): Meter {
  const { database, now, onError, awayPauseMs = AWAY_PAUSE_MS, awayMsMax = AWAY_MS_MAX } = deps;
  const holder = createHolder(deps);
  let id = deps.newId('mtr');
  let batches = 0;
  const bounds = {
    batchMax: BATCH_MAX,
    queueMax: QUEUE_MAX,
    onOverflow: () => errors.overloaded({ retryAfterSeconds: 1 }),
  };
  const reservations = createBatcher<string, LimitCheck | undefined>({ ...bounds, run: reserveTogether });
  const settlements = createBatcher<Settlement, undefined>({ ...bounds, run: settleTogether });
  const lateBatches = createLateBatches<NumberedBatch>({
    ...{ sizeOf: ({ items }) => items.length, sizeMax: QUEUE_MAX, pauseMs: awayPauseMs },
    laneOf: ({ customerId }) => customerId ?? '',
    attempt: countLate,
    giveUp: ({ items }) => lose(items, new Error(`${items.length} calls were not counted before the end`)),
    closeMsMax: deps.lateCloseMsMax ?? LATE_CLOSE_MS_MAX,
  });

  /** Undefined for customers whose spend cap is to be reckoned first. */
  async function reserveTogether(customerIds: readonly string[]): Promise<Outcome<LimitCheck | undefined>[]> {
    const moment = now();
    const [month, day] = [monthOf(moment), dayOf(moment)];
    const wanted = countByCustomer(customerIds);
    for (let attempt = 1; attempt <= RESERVE_ATTEMPTS_MAX; attempt += 1) {
      const id = await holder.current();
      let granted: GrantedUnits[] | null;
      try {
        granted = await reserveUnits(
          database,
          id,
          [...wanted].map(([customerId, units]) => ({ customerId, month, day, units })),
        );
      } catch (error) {
        // Whether the units were taken is not known: without a lease they come back by themselves.
        holder.abandon(id);
        throw error;
      }
      if (granted !== null) return outcomesOf(handOut({ customerIds, granted, holder: id, moment }));
      holder.abandon(id);
    }
    throw new Error('the lease of this process cannot be renewed');
  }

  /** Null where a try before, of which no answer came, has written it all. */
  async function write({ items, counts }: NumberedBatch): Promise<CounterState[] | null> {
    const alongside = items.flatMap((item) => (item.kind === 'usage' ? (item.usage.alongside ?? []) : []));
    const late = lateCustomers(items, dayOf(now()));
    // One statement commits by itself; only where more has to go with it is a transaction worth its two round trips.
    if (alongside.length === 0 && late.length === 0) return settleUnits(database, counts);
    return database.transaction(async (tx) => {
      const counters = await settleUnits(tx, counts);
      // A key that was freed then may be another call's by now, whose intent must stay.
      if (counters === null) return null;
      for (const [writer, group] of Map.groupBy(alongside, ({ write: writer }) => writer))
        await writer(
          tx,
          group.map(({ item }) => item),
        );
      for (const customerId of late) await forgetReckoning(tx, customerId);
      return counters;
    });
  }

  async function settleTogether(items: readonly Settlement[]): Promise<Outcome<undefined>[]> {
    const behind = new Set(items.filter((item) => lateBatches.has(customerOf(item))));
    const failed = await settleBatch(items.filter((item) => !behind.has(item)));
    putOffApart([...behind]);
    return items.map((item) =>
      failed === undefined || behind.has(item) ? { ok: true, value: undefined } : { ok: false, ...failed },
    );
  }

  /** Why it was not counted; throws where it is to be tried in halves. */
  async function settleBatch(items: readonly Settlement[]): Promise<{ error: unknown } | undefined> {
    if (items.length === 0) return undefined;
    batches += 1;
    const batch = { items, counts: { meter: id, number: batches, ...addUp(items) }, customerId: null };
    let conflicts = 0;
    let awaySinceMs: number | undefined;
    for (;;) {
      try {
        // Where null, whoever passed a threshold by it was not told: the job does that.
        deps.onCounted((await write(batch)) ?? []);
        return undefined;
      } catch (error) {
        if (isRefusedData(error)) throw error;
        if (await isPutOffApart(batch, error)) return undefined;
        if (isAwayFrom(database, error)) {
          awaySinceMs ??= performance.now();
          if (performance.now() - awaySinceMs >= awayMsMax)
            return putOff(batch, error) ? undefined : { error };
          await new Promise((done) => setTimeout(done, awayPauseMs));
        } else {
          conflicts += 1;
          const { code } = error as { code?: unknown };
          if (!TRY_AGAIN_CODES.has(code) || conflicts >= SETTLE_ATTEMPTS_MAX) return { error };
        }
      }
    }
  }

  /** Lets the callers go; the calls are counted when the database is back. */
  function putOff(batch: NumberedBatch, error: unknown): boolean {
    if (!lateBatches.put(batch)) return false;
    // A number below the last one is never counted: the batch keeps the meter for itself, and the next ones get another.
    id = deps.newId('mtr');
    batches = 0;
    onError(error);
    return true;
  }

  /**
   * Where only the server of some customers is away, those alone are counted late, and nobody waits for them. The number of the batch is used up
   * first, so that whatever became of it counts nothing any more; false where that cannot be done now.
   */
  async function isPutOffApart(batch: NumberedBatch, error: unknown): Promise<boolean> {
    if (batch.customerId !== null || isDatabaseAway(error) || !isAwayFrom(database, error)) return false;
    try {
      const unused = await settleUnits(database, { ...batch.counts, settled: [], usage: [] });
      if (unused !== null) putOffApart(batch.items);
    } catch {
      return false;
    }
    onError(error);
    return true;
  }

  /** Each customer's for itself, under a number of its own. */
  function putOffApart(items: readonly Settlement[]): void {
    for (const [customerId, own] of Map.groupBy(items, customerOf)) {
      const counts = { meter: deps.newId('mtr'), number: 1, ...addUp(own) };
      if (!lateBatches.put({ items: own, counts, customerId }))
        lose(own, new Error(`too many calls wait to be counted for ${own.length} more`));
    }
  }

  async function countLate(batch: NumberedBatch): Promise<boolean> {
    try {
      deps.onCounted((await write(batch)) ?? []);
    } catch (error) {
      if (await isPutOffApart(batch, error)) return true;
      const { code } = error as { code?: unknown };
      if (isAwayFrom(database, error) || TRY_AGAIN_CODES.has(code)) return false;
      // Then no try before has written it, and what can be written is found in halves.
      if (isRefusedData(error) && batch.items.length > 1)
        for (const item of batch.items) void settleQuietly(item);
      else lose(batch.items, error);
    }
    return true;
  }

  /** Without a lease the units come back by themselves. */
  function lose(items: readonly Settlement[], error: unknown): void {
    for (const item of items) {
      const { reservation } = item.kind === 'usage' ? item.usage : item;
      if (reservation !== null) holder.abandon(reservation.holder);
    }
    onError(error);
  }

  /** A result that was reached must not be lost because counting it failed. */
  async function settleQuietly(settlement: Settlement): Promise<void> {
    try {
      await settlements.add(settlement);
    } catch (error) {
      lose([settlement], error);
    }
  }

  return {
    holder,
    checkLimit: (customerId) => deps.askReckoned(customerId, () => reservations.add(customerId)),
    settle: (usage) => settleQuietly({ kind: 'usage', usage, day: usage.reservation?.day ?? dayOf(now()) }),
    giveBack: (reservation) => settleQuietly({ kind: 'unused', reservation }),
    async close() {
      await reservations.idle();
      await settlements.idle();
      await lateBatches.close();
      // What the database refused together is written apart.
      await settlements.idle();
      await holder.close();
    },
  };
}

function countByCustomer(customerIds: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of customerIds) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/** First come, first served among the calls of one customer. */
function handOut(batch: {
  customerIds: readonly string[];
  granted: readonly GrantedUnits[];
  holder: string;
  moment: Date;
}): (LimitCheck | undefined)[] {
  const { holder, moment } = batch;
  const [month, day, resetsAt] = [monthOf(moment), dayOf(moment), nextMonthStart(moment)];
  const left = new Map(batch.granted.map((grant) => [grant.customerId, { ...grant }]));
  return batch.customerIds.map((customerId) => {
    const grant = left.get(customerId);
    if (grant?.isUnreckoned) return undefined;
    if (grant !== undefined && grant.granted > 0) {
      grant.granted -= 1;
      return { kind: 'reserved', reservation: { customerId, month, day, holder } };
    }
    return { kind: 'limit_exceeded', limit: grant?.stopAt ?? 0, used: grant?.used ?? 0, resetsAt };
  });
}

/** Whose calls began on an earlier day; in one order, because their settings are written. */
function lateCustomers(items: readonly Settlement[], today: string): string[] {
  const late = items.flatMap((item) => {
    const reservation = item.kind === 'usage' ? item.usage.reservation : item.reservation;
    return reservation === null || reservation.day >= today ? [] : reservation.customerId;
  });
  return [...new Set(late)].sort();
}

function customerOf(item: Settlement): string {
  return item.kind === 'usage' ? item.usage.customerId : item.reservation.customerId;
}

function addUp(items: readonly Settlement[]): { settled: SettledUnits[]; usage: UsageCount[] } {
  const settled = new Map<string, SettledUnits>();
  const usage = new Map<string, UsageCount>();
  for (const item of items) {
    const reservation = item.kind === 'usage' ? item.usage.reservation : item.reservation;
    const kept = item.kind === 'usage' && item.usage.unit === 'kept';
    if (reservation !== null) addReservation(settled, reservation, kept);
    if (item.kind === 'usage') addUsage(usage, item.usage, item.day);
  }
  return { settled: [...settled.values()], usage: [...usage.values()] };
}

function addReservation(
  settled: Map<string, SettledUnits>,
  { customerId, month, holder }: Reservation,
  kept: boolean,
): void {
  const slot = `${customerId}\n${month}\n${holder}`;
  const sums = settled.get(slot) ?? { customerId, month, holder, kept: 0, returned: 0 };
  if (kept) sums.kept += 1;
  else sums.returned += 1;
  settled.set(slot, sums);
}

function addUsage(usage: Map<string, UsageCount>, call: CallUsage, day: string): void {
  const { customerId, platform, tool } = call;
  const number = durationClass(call.durationMs);
  const slot = `${customerId}\n${day}\n${tool}\n${number}`;
  const sums = usage.get(slot) ?? {
    customerId,
    day,
    platform,
    tool,
    durationClass: number,
    calls: 0,
    errors: 0,
    givenBack: 0,
  };
  sums.calls += 1;
  if (!call.succeeded) sums.errors += 1;
  if (call.unit === 'given_back') sums.givenBack += 1;
  usage.set(slot, sums);
}
