type KeyType = 'text' | 'bytea';
type Values<Key extends Record<string, KeyType>> = {
  readonly [Name in keyof Key]: Key[Name] extends 'text' ? string : Buffer;
};

/** A column that holds envelopes, as the rotation needs to know it. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The primary key, in its order. */
  readonly key: Readonly<Record<string, KeyType>>;
  /** Rows that are read at once; fewer where values are large. */
  readonly rowsPerPage: number;
  contextOf(row: Readonly<Record<string, string | Buffer>>): string;
  readonly mark?: SealedMark;
}

/** A column that tells equal plain values apart from others, and is made with the key, too. */
export interface SealedMark {
  readonly column: string;
  /** Other columns that it is made of. */
  readonly needs: readonly string[];
  of(plain: string, row: Readonly<Record<string, string | Buffer>>): string;
}

const ROWS_PER_PAGE = 200;

export function sealedColumn<const Key extends Record<string, KeyType>, const Need extends string = never>(
  definition: Pick<SealedColumn, 'table' | 'column'> & {
    readonly key: Key;
    readonly rowsPerPage?: number;
    contextOf(row: Values<Key>): string;
    readonly mark?: {
      readonly column: string;
      readonly needs: readonly Need[];
      of(plain: string, row: Values<Key> & Readonly<Record<Need, string>>): string;
    };
  },
): SealedColumn {
  // The store reads exactly these columns, so a row has the shape that the definition expects.
  return { rowsPerPage: ROWS_PER_PAGE, ...definition } as unknown as SealedColumn;
}
