import { type Database, idBorders, renewParts } from '@libs/db';

// SQL of what has run out in the log.

const DAY_MS = 86_400_000;
const DAYS_PER_PART = 10;
/** What was tried again and again is delivered days after it was made, by which it has its part. */
const DELIVERED_LATE_DAYS = 5;
const ROWS_PER_STEP = 1_000;
/** So that what comes after it gets its turn; what is left goes with the next sweep. */
const CLEAR_MS_MAX = 5 * 60_000;

export interface ExpireOptions {
  /** Without it they stay. */
  readonly keepDeliveredMs?: number | undefined;
  readonly mayGoOn?: () => boolean;
}

interface KeyRow {
  tenant_id: string;
  id: string;
}

const comesAfter = (a: KeyRow, b: KeyRow) =>
  a.tenant_id === b.tenant_id ? a.id > b.id : a.tenant_id > b.tenant_id;

export function createExpiryStore(
  database: Database,
  schema: string,
  monotonicMs: () => number = () => performance.now(),
) {
  const locked = database.isSpread ? '' : 'for update skip locked';

  /** In bounded steps, until one finds less than it may remove. */
  async function inSteps(mayGoOn: () => boolean, step: () => Promise<number>): Promise<number> {
    const untilMs = monotonicMs() + CLEAR_MS_MAX;
    let total = 0;
    while (mayGoOn() && monotonicMs() < untilMs) {
      const removed = await step();
      total += removed;
      if (removed < ROWS_PER_STEP) break;
    }
    return total;
  }

  async function deleteExpired(at: Date): Promise<number> {
    const { rowCount } = await database.query(
      `delete from ${schema}.deliveries where (tenant_id, id) in (
  select tenant_id, id from ${schema}.deliveries where expires_at <= $1 limit ${ROWS_PER_STEP} ${locked})`,
      [at],
    );
    return rowCount;
  }

  /**
   * A step over a part that goes from key to key: by their time, which an index finds by the page, each step would pass again all
   * that the steps before it have removed.
   */
  function clearing(part: string, before: Date): () => Promise<number> {
    let last: KeyRow = { tenant_id: '', id: '' };
    return async () => {
      const { rows, rowCount } = await database.query<KeyRow>(
        `delete from ${part} where (tenant_id, id) in (
  select tenant_id, id from ${part} where status = 'delivered' and finished_at < $1 and (tenant_id, id) > ($2, $3)
  order by tenant_id, id limit ${ROWS_PER_STEP} ${locked}) returning tenant_id, id`,
        [before, last.tenant_id, last.id],
      );
      for (const row of rows) if (comesAfter(row, last)) last = row;
      return rowCount;
    };
  }

  return {
    /**
     * Deletes what has run out, which is little, row by row. What was delivered goes with its part of the table, when all that
     * belongs there is past its time; from a part that stays, because very much of it is kept for longer, and from the part for
     * everything else it goes in steps. Gives how many rows and parts that were.
     */
    async expire(at: Date, { keepDeliveredMs, mayGoOn = () => true }: ExpireOptions): Promise<number> {
      const dead = await inSteps(mayGoOn, () => deleteExpired(at));
      const divided = { name: `${schema}.deliveries`, borders: idBorders('dlv'), daysPerPart: DAYS_PER_PART };
      if (keepDeliveredMs === undefined) {
        const forEver = { ...divided, keptDays: Number.POSITIVE_INFINITY };
        return dead + (await renewParts(database, forEver, at, { mayGoOn }));
      }
      const before = new Date(at.getTime() - keepDeliveredMs);
      const keptDays = keepDeliveredMs / DAY_MS + DELIVERED_LATE_DAYS;
      // What somebody tried again after weeks arrived long after the others of its part.
      const rows = `status <> 'delivered' or finished_at >= '${before.toISOString()}'`;
      let old = 0;
      const clearOthers = async (part: string) => {
        old += await inSteps(mayGoOn, clearing(part, before));
      };
      const outliving = { rows, clearOthers };
      const parts = await renewParts(database, { ...divided, keptDays, outliving }, at, { mayGoOn });
      await clearOthers(`${schema}.deliveries_default`);
      return dead + parts + old;
    },
  };
}
