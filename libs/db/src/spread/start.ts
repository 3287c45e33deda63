import { connectAlone } from '../connection/connection.ts';
import { countPending, type MigrationSource, migrate } from '../migrate.ts';
import type { PlacedTables } from './placement.ts';
import { findUnplaced, isPlacedAnywhere, SpreadError } from './spread.ts';

export interface SchemaOptions {
  /** The server itself, not a pooler. */
  url: string;
  source: MigrationSource;
  tables: PlacedTables;
  /** What places tables, as one types it. */
  command: string;
}

/**
 * Brings the schema up to date when a service starts. Where its tables are spread, the command does that: a service that
 * filled a new table before it is placed could never have it placed any more. So there a start is refused that would.
 */
export async function prepareSchema({ url, source, tables, command }: SchemaOptions): Promise<void> {
  const client = await connectAlone(url, `${source.schema} placement`);
  try {
    if (await isPlacedAnywhere(client, tables)) {
      const pending = await countPending(client, source);
      if (pending > 0)
        throw new SpreadError(
          `this database is spread, and ${pending} of the migrations of this version are not applied: run \`${command}\` first, ` +
            'which applies them and places their tables',
        );
      const [first, ...others] = await findUnplaced(client, tables);
      if (first !== undefined)
        throw new SpreadError(
          `this database is spread, and ${first}${others.length > 0 ? ` and ${others.length} more` : ''} not in its place: ` +
            `run \`${command}\` first`,
        );
      return;
    }
  } finally {
    await client.end();
  }
  await migrate(url, source);
}
