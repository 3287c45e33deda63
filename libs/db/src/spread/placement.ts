/**
 * Where a table goes when the database is spread over several servers: by its tenant's (or customer's) rows; whole on
 * every server; on the first server but within the transactions of the others; or on the first server, for itself.
 */
export type Placement = 'by tenant' | 'reference' | 'managed local' | 'local';

export interface PlacedTable {
  readonly placement: Placement;
  /** The tenant's column, for tables that are spread by it. */
  readonly by?: string;
  /** Why it is not spread by tenant. */
  readonly why?: string;
  /** Its migration writes a row, so that it is never empty. */
  readonly isSeeded?: true;
  /** It was local before: where it has rows they stay with it, which none may whose identities would begin anew. */
  readonly wasLocal?: true;
  /** Triggers that would write on another server, which none may: the code that changes the table does their work. */
  readonly triggersDropped?: readonly string[];
  /** Statements that make what only a spread table needs. */
  readonly indexed?: readonly string[];
}

/** By name with schema: every table that there is. */
export type PlacedTables = Readonly<Record<string, PlacedTable>>;
