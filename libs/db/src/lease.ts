import { checkIdentifier } from './connection.ts';
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
  /** Whether the row is there for the lease alone, and goes with it. */
  readonly rowIs: 'deleted' | 'kept';
}

/** A condition beside the lease's own, on the row `held`; its parameters are written `$1`, `$2`, … */
export interface LeaseCondition {
  readonly sql: string;
  readonly values: readonly unknown[];
}

export interface LeaseClaim {
  /** Made anew for every try. */
  readonly holder: string;
  readonly ms: number;
  readonly where?: LeaseCondition;
}

export interface Leases {
  /** Takes what is free or has run out, and makes the row where there is none; false while another has it. */
  acquire(db: Queryable, key: readonly unknown[], claim: LeaseClaim): Promise<boolean>;
  /** Moves the end on; false when the lease is another's by now, and whatever it protects must stop. */
  extend(db: Queryable, key: readonly unknown[], claim: Omit<LeaseClaim, 'where'>): Promise<boolean>;
  /** Gives it back early; false when it was another's by now, which then keeps it. */
  release(db: Queryable, key: readonly unknown[], holder: string): Promise<boolean>;
}

export function leasesOn(place: LeaseTable): Leases {
  const table = checkIdentifier(place.table);
  const [holder, until, ...key] = [place.holder, place.until, ...place.key].map(checkIdentifier);
  const values = key.map((_column, index) => `$${index + 1}`);
  const isRow = key.map((column, index) => `held.${column} = $${index + 1}`).join(' and ');
  const holderAt = `$${key.length + 1}`;
  const end = `statement_timestamp() + $${key.length + 2} * interval '1 millisecond'`;
  const isFree = `(held.${until} is null or held.${until} <= statement_timestamp())`;
  const free =
    place.rowIs === 'deleted'
      ? `delete from ${table} as held`
      : `update ${table} as held set ${holder} = null, ${until} = null`;
  const take = `set ${holder} = ${holderAt}, ${until} = ${end}`;

  const isGranted = ({ sql, values: own }: LeaseCondition = { sql: '', values: [] }) => ({
    sql: sql === '' ? isFree : `${isFree} and (${shiftParameters(sql, key.length + 2)})`,
    values: own,
  });

  async function run(db: Queryable, text: string, parameters: readonly unknown[]): Promise<boolean> {
    return (await db.query(text, parameters)).rowCount === 1;
  }

  return {
    acquire(db, row, claim) {
      const granted = isGranted(claim.where);
      return run(
        db,
        `insert into ${table} as held (${[...key, holder, until].join(', ')})
         values (${[...values, holderAt, end].join(', ')})
         on conflict (${key.join(', ')}) do update ${take} where ${granted.sql}`,
        [...row, claim.holder, claim.ms, ...granted.values],
      );
    },
    extend: (db, row, claim) =>
      run(
        db,
        `update ${table} as held set ${until} = ${end} where ${isRow} and held.${holder} = ${holderAt}`,
        [...row, claim.holder, claim.ms],
      ),
    release: (db, row, holderId) =>
      run(db, `${free} where ${isRow} and held.${holder} = ${holderAt}`, [...row, holderId]),
  };
}

/** `$1` of a condition comes after the parameters of the lease. */
function shiftParameters(sql: string, by: number): string {
  return sql.replaceAll(/\$(\d+)/g, (_whole, number: string) => `$${Number(number) + by}`);
}
