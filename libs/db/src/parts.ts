import { idBorder, idBorderTimeMs } from '@libs/seal';
import type { Database, Queryable } from './database.ts';

/*
 * A table whose rows expire is divided by time into parts, and a part goes as a whole: dropping it costs the same however many
 * rows it has, and leaves nothing behind for vacuum. What no part is there for goes to the default part, and so do the few rows of a
 * part that are kept for longer; where they are not few, the part stays until they are.
 */

/** How the column that a table is divided by tells the time. */
export interface PartBorders {
  /** Comes after every value of an earlier time, and before every other. */
  at(time: Date): string;
  timeOf(border: string): Date | undefined;
}

export interface DividedTable {
  /** With its schema, where that is not the connection's. */
  readonly name: string;
  readonly borders: PartBorders;
  readonly daysPerPart: number;
  /** A part is dropped when all that belongs in it is older. */
  readonly keptDays: number;
  /** If some rows are kept for longer. */
  readonly outliving?: OutlivingRows;
}

/** Up to 10,000 move to the default part, and are removed there one by one; where there are more, their part stays. */
export interface OutlivingRows {
  /** The condition that they meet. */
  readonly rows: string;
  /** Removes some of the others from a part that stays, because too many would have to move; called again at the next turn. */
  readonly clearOthers: (part: string) => Promise<unknown>;
}

export interface RenewOptions {
  /** Asked before each part, so that who stops is not kept waiting by those that are left. */
  readonly mayGoOn?: () => boolean;
}

const DAY_MS = 86_400_000;
/** Parts that are there before anything belongs in them, so that a job which stands still for a while delays nobody. */
const PARTS_AHEAD = 2;
/** Longer than that a part waits for nobody: who comes meanwhile would wait behind it. It is tried again later. */
const LOCK_WAIT = '2s';

/** They move while nobody can read or write the table. */
const MOVED_MAX = 10_000;

/** By these the database says that another part has the time already, or that rows of it are in the default part. */
const TAKEN = new Set(['42P17', '23514', '42P07']);
const LOCK_NOT_AVAILABLE = '55P03';

/** Makes what is to come and drops what is past its time; answers how many parts were dropped. */
export async function renewParts(
  database: Database,
  table: DividedTable,
  now: Date,
  { mayGoOn = () => true }: RenewOptions = {},
): Promise<number> {
  const parts = await listParts(database, table);
  for (let ahead = 0; ahead <= PARTS_AHEAD && mayGoOn(); ahead += 1) {
    const time = new Date(now.getTime() + ahead * table.daysPerPart * DAY_MS);
    if (!parts.some((part) => hasSomeOf(part, spanOf(table, time)))) await makePart(database, table, time);
  }
  const keptSinceMs = now.getTime() - table.keptDays * DAY_MS;
  let dropped = 0;
  for (const { name, until } of parts)
    if (until !== undefined && until.getTime() <= keptSinceMs && mayGoOn())
      dropped += (await dropPart(database, table, name)) ? 1 : 0;
  return dropped;
}

/** Makes the part of a time, unless it is there. Processes take turns; true where the time has a part of its own now. */
export async function makePart(database: Database, table: DividedTable, time: Date): Promise<boolean> {
  const { name, from, to } = partAt(table, time);
  try {
    await database.transaction(async (tx) => {
      await beginAlone(tx, table);
      const { rows } = await tx.query<{ taken: boolean }>('select to_regclass($1) is not null as taken', [
        name,
      ]);
      if (rows[0]?.taken) return;
      // Put beside it and then attached, for which nobody who reads or writes the table has to wait.
      await tx.query(
        `create table ${name} (like ${table.name} including defaults including constraints including storage)`,
      );
      await tx.query(
        `alter table ${table.name} attach partition ${name} for values from ('${from}') to ('${to}')`,
      );
    });
    return true;
  } catch (error) {
    const { code = '' } = error as { code?: string };
    if (TAKEN.has(code) || code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
}

/** False where the part stays for now. */
async function dropPart(database: Database, table: DividedTable, name: string): Promise<boolean> {
  const { outliving } = table;
  try {
    if (outliving !== undefined && (await hasManyOf(database, name, outliving))) {
      await outliving.clearOthers(name);
      return false;
    }
    await database.transaction(async (tx) => {
      await beginAlone(tx, table);
      if (outliving !== undefined) {
        await tx.query(`alter table ${table.name} detach partition ${name}`);
        await tx.query(`insert into ${table.name} select * from ${name} where ${outliving.rows}`);
      }
      await tx.query(`drop table if exists ${name}`);
    });
    return true;
  } catch (error) {
    // Somebody reads it, or another process dropped it: the next turn comes.
    const { code = '' } = error as { code?: string };
    if (code === LOCK_NOT_AVAILABLE || code === '42P01') return false;
    throw error;
  }
}

async function hasManyOf(db: Queryable, part: string, { rows: condition }: OutlivingRows): Promise<boolean> {
  const { rows } = await db.query<{ many: boolean }>(
    `select count(*) > ${MOVED_MAX} as many from (select 1 from ${part} where ${condition} limit ${MOVED_MAX + 1}) as outliving`,
  );
  return rows[0]?.many === true;
}

async function beginAlone(tx: Queryable, { name }: DividedTable): Promise<void> {
  // Where the table is spread, the servers that have its rows wait no longer either.
  if (tx.isSpread) await tx.query(`set local citus.propagate_set_commands = 'local'`);
  await tx.query(`set local lock_timeout = '${LOCK_WAIT}'`);
  await tx.query('select pg_advisory_xact_lock(hashtext($1))::text', [`parts of ${name}`]);
}

interface Part {
  name: string;
  /** Undefined for the part of all that was before the table was divided, and for the default part. */
  from: Date | undefined;
  /** Undefined for the default part. */
  until: Date | undefined;
}

interface Span {
  from: Date;
  until: Date;
}

/** Where another part reaches into a time, as that of all before the table was divided, the database refuses one for it. */
function hasSomeOf(part: Part, span: Span): boolean {
  if (part.until === undefined) return false;
  return part.until > span.from && (part.from === undefined || part.from < span.until);
}

async function listParts(db: Queryable, { name, borders }: DividedTable): Promise<Part[]> {
  const { rows } = await db.query<{ name: string; bounds: string }>(
    `select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bounds
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = $1::regclass order by 1`,
    [name],
  );
  const schema = name.includes('.') ? `${name.split('.')[0]}.` : '';
  return rows.map((row) => {
    const [, from, until] = /FROM \((?:'([^']*)'|MINVALUE)\) TO \('([^']*)'\)$/.exec(row.bounds) ?? [];
    const timeOf = (border: string | undefined) =>
      border === undefined ? undefined : borders.timeOf(border);
    return { name: schema + row.name, from: timeOf(from), until: timeOf(until) };
  });
}

function spanOf({ daysPerPart }: DividedTable, time: Date): Span {
  const spanMs = daysPerPart * DAY_MS;
  const fromMs = Math.floor(time.getTime() / spanMs) * spanMs;
  return { from: new Date(fromMs), until: new Date(fromMs + spanMs) };
}

function partAt(table: DividedTable, time: Date): { name: string; from: string; to: string } {
  const { from, until } = spanOf(table, time);
  return {
    name: `${table.name}_${from.toISOString().slice(0, 10).replaceAll('-', '')}`,
    from: table.borders.at(from),
    to: table.borders.at(until),
  };
}

/** Of ids with this prefix, which begin with their time: so the key of a table can be what it is divided by. */
export function idBorders(prefix: string): PartBorders {
  return {
    at: (time) => idBorder(prefix, time.getTime()),
    timeOf(border) {
      const timeMs = idBorderTimeMs(border);
      return timeMs === undefined ? undefined : new Date(timeMs);
    },
  };
}

/** Of a column that holds the day. */
export const dayBorders: PartBorders = {
  at: (time) => time.toISOString().slice(0, 10),
  timeOf: (border) => (/^\d{4}-\d\d-\d\d$/.test(border) ? new Date(`${border}T00:00:00Z`) : undefined),
};
