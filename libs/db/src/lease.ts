import { checkIdentifier } from './connection/connection.ts';
import type { Queryable } from './database.ts';

/*
 * The right of one process to work on one row for a while. It ends by itself, so that a process that dies blocks nobody
 * for long; and it is proved by an id that is made anew for every try, so that a latecomer whose lease was taken over
 * finds out, and changes nothing. Time is the database's: clocks of machines do not matter.
 */

export interface LeaseTable {
  readonly table: string;
  /** The columns of the primary key. */
  readonly key: readonly string[];
  /** The columns that hold the lease; both null (or the row absent) while nobody has it. */
  readonly holder: string;
  readonly until: string;
  /** `deleted`: it is there for the lease alone, and goes with it. `given`: it is another's, and no lease makes one. */
  readonly rowIs: 'deleted' | 'kept' | 'given';
}

/** SQL on the row `held`; its parameters are written `$1`, `$2`, … */
export interface LeaseSql {
  readonly sql: string;
  readonly values: readonly unknown[];
}

export interface LeaseClaim {
  /** Made anew for every try. */
  readonly holder: string;
  readonly ms: number;
  /** A condition beside the lease's own. */
  readonly where?: LeaseSql;
}

export interface LeaseWork {
  readonly holder: string;
  /** What else is written into the row, by its holder alone: `note = $1`. */
  readonly set?: LeaseSql;
}

/** What the row holds that was taken or given back, in the words of a select list. */
export interface LeaseColumns {
  readonly columns: string;
}

export interface HeldLease {
  readonly holder: string;
  readonly until: Date;
}

type Key = readonly unknown[];

export interface Leases {
  /** Takes what is free or has run out, and makes the row where there is none; false while another has it. */
  acquire(db: Queryable, key: Key, claim: LeaseClaim): Promise<boolean>;
  /** The same, with the row; undefined while another has it. */
  acquireRow<Row extends object>(
    db: Queryable,
    key: Key,
    claim: LeaseClaim & LeaseColumns,
  ): Promise<Row | undefined>;
  /** Moves the end on; false when the lease is another's by now, and whatever it protects must stop. */
  extend(db: Queryable, key: Key, work: LeaseWork & { readonly ms: number }): Promise<boolean>;
  /** Gives it back, with what was worked out; false when it was another's by now, which then keeps it. */
  release(db: Queryable, key: Key, work: LeaseWork): Promise<boolean>;
  /** The same, with the row as it is then; undefined when the lease was another's. */
  releaseRow<Row extends object>(
    db: Queryable,
    key: Key,
    work: LeaseWork & LeaseColumns,
  ): Promise<Row | undefined>;
  /** Who has it, for at least `leftMs` more; undefined when it is free. */
  find(db: Queryable, key: Key, least?: { readonly leftMs: number }): Promise<HeldLease | undefined>;
}

const NOTHING: LeaseSql = { sql: '', values: [] };

export function leasesOn(place: LeaseTable): Leases {
  const table = checkIdentifier(place.table);
  const [holder, until, ...key] = [place.holder, place.until, ...place.key].map(checkIdentifier);
  const values = key.map((_column, index) => `$${index + 1}`);
  const isRow = key.map((column, index) => `held.${column} = $${index + 1}`).join(' and ');
  const holderAt = `$${key.length + 1}`;
  const end = `statement_timestamp() + $${key.length + 2} * interval '1 millisecond'`;
  const isFreeAt = (now: string) => `(held.${until} is null or held.${until} <= ${now})`;
  const isHeld = `${isRow} and held.${holder} = ${holderAt}`;

  function claiming({ sql }: LeaseSql, now: string): string {
    const isFree = isFreeAt(now);
    const isGranted = sql === '' ? isFree : `${isFree} and (${shiftParameters(sql, key.length + 2)})`;
    if (place.rowIs === 'given')
      return `update ${table} as held set ${holder} = ${holderAt}, ${until} = ${end} where ${isRow} and ${isGranted}`;
    return `insert into ${table} as held (${[...key, holder, until].join(', ')})
      values (${[...values, holderAt, end].join(', ')})
      on conflict (${key.join(', ')}) do update set ${holder} = excluded.${holder}, ${until} = excluded.${until}
      where ${isGranted}`;
  }

  function releasing({ sql }: LeaseSql): string {
    if (place.rowIs === 'deleted') return `delete from ${table} as held where ${isHeld}`;
    const also = sql === '' ? '' : `, ${shiftParameters(sql, key.length + 1)}`;
    return `update ${table} as held set ${holder} = null, ${until} = null${also} where ${isHeld}`;
  }

  return {
    async acquire(db, row, claim) {
      return (await this.acquireRow(db, row, { ...claim, columns: '1' })) !== undefined;
    },
    async acquireRow<Row extends object>(db: Queryable, row: Key, claim: LeaseClaim & LeaseColumns) {
      const { holder: id, ms, where = NOTHING, columns } = claim;
      const given = [...row, id, ms, ...where.values];
      const { now, values: nowValues } = await readNow(db, given.length);
      const text = `${claiming(where, now)} returning ${columns}`;
      return (await db.query<Row>(text, [...given, ...nowValues])).rows[0];
    },
    async extend(db, row, { holder: id, ms, set = NOTHING }) {
      const also = set.sql === '' ? '' : `, ${shiftParameters(set.sql, key.length + 2)}`;
      const text = `update ${table} as held set ${until} = ${end}${also} where ${isHeld}`;
      return (await db.query(text, [...row, id, ms, ...set.values])).rowCount === 1;
    },
    async release(db, row, work) {
      return (await this.releaseRow(db, row, { ...work, columns: '1' })) !== undefined;
    },
    async releaseRow<Row extends object>(db: Queryable, row: Key, work: LeaseWork & LeaseColumns) {
      const { holder: id, set = NOTHING, columns } = work;
      const text = `${releasing(set)} returning ${columns}`;
      return (await db.query<Row>(text, [...row, id, ...set.values])).rows[0];
    },
    async find(db, row, { leftMs } = { leftMs: 0 }) {
      const { rows } = await db.query<HeldLease>(
        `select ${holder} as holder, ${until} as until from ${table} as held
         where ${isRow} and held.${until} > statement_timestamp() + ${holderAt} * interval '1 millisecond'`,
        [...row, leftMs],
      );
      return rows[0];
    },
  };
}

/** A table that is spread over servers takes no clock where it decides on a conflict: there the time is read before. */
async function readNow(db: Queryable, count: number): Promise<{ now: string; values: readonly Date[] }> {
  if (!db.isSpread) return { now: 'statement_timestamp()', values: [] };
  const { rows } = await db.query<{ now: Date }>('select statement_timestamp() as now');
  return { now: `$${count + 1}::timestamptz`, values: rows.map(({ now }) => now) };
}

/** `$1` of the caller's SQL comes after the parameters of the lease. */
function shiftParameters(sql: string, by: number): string {
  return sql.replaceAll(/\$(\d+)/g, (_whole, number: string) => `$${Number(number) + by}`);
}
