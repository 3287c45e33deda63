import type { Queryable } from '@libs/db';
import type { SealedColumn } from './sealed-column.ts';

export type Row = Readonly<Record<string, string | Buffer>>;

export interface SealedValue {
  readonly row: Row;
  readonly keyId: string | null;
  /** Read only where it may have to be written anew. */
  readonly sealed: Buffer | null;
  readonly mark: string | null;
}

export interface Resealed {
  readonly row: Row;
  readonly was: Buffer;
  readonly sealed: Buffer;
  readonly mark: string | null;
}

const keyIdOf = (column: SealedColumn): string => `encode(substring(${column.column} from 2 for 4), 'hex')`;

interface PageRow {
  [name: string]: string | Buffer | null;
}

/** The next rows in the order of the primary key, whatever they hold: so no page reads more than its number of rows. */
export async function readPage(
  db: Queryable,
  column: SealedColumn,
  { after, newestKeyId }: { after: readonly (string | Buffer)[] | null; newestKeyId: string },
): Promise<SealedValue[]> {
  const keys = Object.keys(column.key);
  const needs = column.mark?.needs ?? [];
  const mark = column.mark === undefined ? 'null' : column.mark.column;
  const keyId = keyIdOf(column);
  const from =
    after === null
      ? ''
      : `where (${keys.join(', ')}) > (${keys.map((name, index) => `$${index + 2}::${column.key[name]}`).join(', ')})`;
  const { rows } = await db.query<PageRow>(
    `select ${[...keys, ...needs].join(', ')}, ${mark}::text as rotation_mark, ${keyId} as rotation_key,
       case when ${column.mark === undefined ? `${keyId} <> $1` : '$1::text is not null'} then ${column.column} end as rotation_sealed
     from (select * from ${column.table} ${from} order by ${keys.join(', ')} limit ${column.rowsPerPage}) as page
     order by ${keys.join(', ')}`,
    [newestKeyId, ...(after ?? [])],
  );
  return rows.map(({ rotation_mark, rotation_key, rotation_sealed, ...row }) => ({
    row: row as Row,
    keyId: rotation_key as string | null,
    sealed: rotation_sealed as Buffer | null,
    mark: rotation_mark as string | null,
  }));
}

/** The keys that the first and the last rows of a table are under: never more than a page of each, however long the table is. */
export async function readKeyIdsAtEnds(db: Queryable, column: SealedColumn): Promise<string[]> {
  const keys = Object.keys(column.key);
  const found: string[] = [];
  for (const direction of ['asc', 'desc']) {
    const { rows } = await db.query<{ key_id: string | null }>(
      `select ${keyIdOf(column)} as key_id from ${column.table}
       order by ${keys.map((name) => `${name} ${direction}`).join(', ')} limit ${column.rowsPerPage}`,
    );
    found.push(...rows.flatMap(({ key_id }) => key_id ?? []));
  }
  return found;
}

/** Writes what still is as it was read; the others were changed meanwhile, by someone with the newest key. */
export async function writeResealed(
  db: Queryable,
  column: SealedColumn,
  values: readonly Resealed[],
): Promise<void> {
  const keys = Object.keys(column.key);
  const mark = column.mark?.column;
  const arrays = [...keys.map((name) => column.key[name] as string), 'bytea', 'bytea', 'text'];
  await db.query(
    `update ${column.table} as kept
     set ${column.column} = new.rotation_sealed${mark === undefined ? '' : `, ${mark} = new.rotation_mark`}
     from unnest(${arrays.map((type, index) => `$${index + 1}::${type}[]`).join(', ')})
       as new (${keys.join(', ')}, rotation_was, rotation_sealed, rotation_mark)
     where ${keys.map((name) => `kept.${name} = new.${name}`).join(' and ')}
       and kept.${column.column} = new.rotation_was`,
    [
      ...keys.map((name) => values.map(({ row }) => row[name])),
      values.map(({ was }) => was),
      values.map(({ sealed }) => sealed),
      values.map((value) => value.mark),
    ],
  );
}
