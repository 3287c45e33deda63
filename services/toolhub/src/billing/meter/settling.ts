import {
  createBatcherByServer,
  type Database,
  isAwayFrom,
  isRefusedData,
  isServerMissing,
  type Outcome,
} from '@libs/db';
import type { NewId } from '@libs/seal';
import type { CounterState } from '../counter-store.ts';
import { dayOf } from '../month.ts';
import { forgetReckoning } from '../store.ts';
import { BATCH_BOUNDS } from './batch-bounds.ts';
import type { Holder } from './holder.ts';
import { createLateBatches } from './late-batches.ts';
import { settleUnits } from './meter-store.ts';
import { addUp, customerOf, lateCustomers, type Settlement } from './settlement.ts';
import type { SettledBatch } from './units.ts';

export interface Settling {
  /** Never rejects: a result that was reached must not be lost because counting it failed. */
  settle(settlement: Settlement): Promise<void>;
  close(): Promise<void>;
}

export interface SettlingDependencies {
  database: Database;
  holder: Pick<Holder, 'abandon'>;
  newId: NewId;
  now: () => Date;
  onError: (error: unknown) => void;
  /** Told after each write, to raise the events of thresholds that were passed. */
  onCounted: (counters: readonly CounterState[]) => void;
  /** How long a batch waits before it tries again; tests shorten it. */
  awayPauseMs?: number;
  /** Tests shorten these two, too. */
  awayMsMax?: number;
  lateCloseMsMax?: number;
}

const SETTLE_ATTEMPTS_MAX = 3;
/** Postgres rolled the statement back and asks to try again. */
const TRY_AGAIN_CODES: ReadonlySet<unknown> = new Set(['40001', '40P01']);
/** So long the caller waits for the server to come back, from the first time that it was away; then the call is counted late. */
const AWAY_MS_MAX = 15_000;
const AWAY_PAUSE_MS = 500;
/** The end of a process waits no longer than this for what is counted late. */
const LATE_CLOSE_MS_MAX = 5_000;

interface NumberedBatch {
  items: readonly Settlement[];
  counts: SettledBatch;
  /** The customer of all its items, where tables are spread and the server of one may be away alone; null for a batch of several. */
  customerId: string | null;
}

/** Keeps or gives back units and counts calls, for all that wait at once, each once. */
export function createSettling(deps: SettlingDependencies): Settling {
  const { database, holder, now, onError, awayPauseMs = AWAY_PAUSE_MS, awayMsMax = AWAY_MS_MAX } = deps;
  /** By server: the batches of one meter are written one after the other, and those of two servers side by side. */
  const meters = new Map<string, { meter: string; number: number }>();
  const settlements = createBatcherByServer<Settlement, undefined>(database, {
    ...{ ...BATCH_BOUNDS, run: settleTogether, tenantOf: customerOf },
  });
  const lateBatches = createLateBatches<NumberedBatch>({
    ...{ sizeOf: ({ items }) => items.length, sizeMax: BATCH_BOUNDS.queueMax, pauseMs: awayPauseMs },
    laneOf: ({ customerId }) => customerId ?? '',
    attempt: countLate,
    giveUp: ({ items }) => lose(items, new Error(`${items.length} calls were not counted before the end`)),
    closeMsMax: deps.lateCloseMsMax ?? LATE_CLOSE_MS_MAX,
  });

  /** Nothing is known to be wrong with what was to be counted. */
  const isMissing = (error: unknown) => isAwayFrom(database, error) || isServerMissing(database, error);

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

  function nextOf(server: string): { meter: string; number: number } {
    const { meter, number } = meters.get(server) ?? { meter: deps.newId('mtr'), number: 0 };
    const next = { meter, number: number + 1 };
    meters.set(server, next);
    return next;
  }

  async function settleTogether(items: readonly Settlement[], server: string): Promise<Outcome<undefined>[]> {
    const behind = new Set(items.filter((item) => lateBatches.has(customerOf(item))));
    const failed = await settleBatch(
      items.filter((item) => !behind.has(item)),
      server,
    );
    putOffApart([...behind]);
    return items.map((item) =>
      failed === undefined || behind.has(item) ? { ok: true, value: undefined } : { ok: false, ...failed },
    );
  }

  /** Why it was not counted; throws where it is to be tried in halves. */
  async function settleBatch(
    items: readonly Settlement[],
    server: string,
  ): Promise<{ error: unknown } | undefined> {
    if (items.length === 0) return undefined;
    const batch = { items, counts: { ...nextOf(server), ...addUp(items) }, customerId: null };
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
        if (isMissing(error)) {
          awaySinceMs ??= performance.now();
          if (performance.now() - awaySinceMs >= awayMsMax)
            return putOff(batch, error, server) ? undefined : { error };
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
  function putOff(batch: NumberedBatch, error: unknown, server: string): boolean {
    if (!lateBatches.put(batch)) return false;
    // A number below the last one is never counted: the batch keeps the meter for itself, and the next ones get another.
    meters.delete(server);
    onError(error);
    return true;
  }

  /**
   * Where only the server of some customers is away, those alone are counted late, and nobody waits for them. The number of the batch is used up
   * first, so that whatever became of it counts nothing any more; false where that cannot be done now.
   */
  async function isPutOffApart(batch: NumberedBatch, error: unknown): Promise<boolean> {
    if (batch.customerId !== null || !isServerMissing(database, error)) return false;
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
      if (!lateBatches.put(newBatch(own, customerId)))
        lose(own, new Error(`too many calls wait to be counted for ${own.length} more`));
    }
  }

  /** Under a number that no other batch has or will have. */
  function newBatch(items: readonly Settlement[], customerId: string | null): NumberedBatch {
    return { items, counts: { meter: deps.newId('mtr'), number: 1, ...addUp(items) }, customerId };
  }

  async function countLate(batch: NumberedBatch): Promise<boolean | NumberedBatch[]> {
    try {
      deps.onCounted((await write(batch)) ?? []);
    } catch (error) {
      if (await isPutOffApart(batch, error)) return true;
      const { code } = error as { code?: unknown };
      if (isMissing(error) || TRY_AGAIN_CODES.has(code)) return false;
      // Then no try before has written it, and what can be written is found in halves.
      if (isRefusedData(error) && batch.items.length > 1) return halvesOf(batch);
      lose(batch.items, error);
    }
    return true;
  }

  /** They stay late: among the new ones they would be put off behind the rest of their customer, whole again, and refused again. */
  function halvesOf({ items, customerId }: NumberedBatch): NumberedBatch[] {
    const half = Math.ceil(items.length / 2);
    return [items.slice(0, half), items.slice(half)].map((some) => newBatch(some, customerId));
  }

  /** When the lease ends the units come back by themselves. */
  function lose(items: readonly Settlement[], error: unknown): void {
    for (const item of items) {
      const { reservation } = item.kind === 'usage' ? item.usage : item;
      if (reservation !== null) holder.abandon(reservation.holder);
    }
    onError(error);
  }

  async function settleQuietly(settlement: Settlement): Promise<void> {
    try {
      await settlements.add(settlement);
    } catch (error) {
      lose([settlement], error);
    }
  }

  return {
    settle: settleQuietly,
    async close() {
      await settlements.idle();
      await lateBatches.close();
    },
  };
}
