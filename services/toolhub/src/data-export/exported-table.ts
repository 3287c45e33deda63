/** A table of customers' rows that are shown as they are stored; whose table it is says which columns. */
export interface ExportedTable {
  table: string;
  /** The columns that tell a customer's rows apart, in the order of the primary key, with their types. */
  key: Readonly<Record<string, 'text' | 'bigint'>>;
  /** Those that are shown beside the key. */
  columns: readonly string[];
}
