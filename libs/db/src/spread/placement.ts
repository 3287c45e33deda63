/**
 * Where a table goes when the database is spread over several servers: by its tenant's (or customer's) rows; whole on
 * every server; on the first server but within the transactions of the others; or on the first server, for itself.
 */
export type Placement = 'by tenant' | 'reference' | 'managed local' | 'local';

export interface PlacedTable {
  readonly placement: Placement;
  /** A local table that is written with rows of tenants where there is one server, and by itself where there are several. */
  readonly isAloneWhenSpread?: true;
  /** The tenant's column, for tables that are spread by it. */
  readonly by?: string;
  /** Why it is not spread by tenant. */
  readonly why?: string;
  /** Its migration writes a row, so that it is never empty. */
  readonly isSeeded?: true;
  /** Triggers that would write on another server, which none may: the code that changes the table does their work. */
  readonly triggersDropped?: readonly string[];
}

/** By name with schema: every table that there is. */
export type PlacedTables = Readonly<Record<string, PlacedTable>>;
