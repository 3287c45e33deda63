import {
  DatabaseUnreachable,
  DataFolderError,
  isDatabaseAway,
  MigrationError,
  type MigrationSource,
  migrate,
  openDatabase,
  startEmbedded,
} from '@libs/db';
import { SealError, type Sealer } from '@libs/seal';
import { describeTally, resealEverything } from './rotation.ts';
import type { SealedColumn } from './sealed-column.ts';

const CONNECTIONS_MAX = 2;

/** What ends the command with one line that says what to do. */
export const ROTATION_FAILURES = {
  startErrors: [DatabaseUnreachable, DataFolderError, MigrationError, SealError],
  isOutage: isDatabaseAway,
};

export interface RotationCommand {
  /** The service, as the lines that are printed name it. */
  name: string;
  /** The setting that holds the keys. */
  keyVariable: string;
  /** The embedded database of the data folder where absent. */
  databaseUrl: string | undefined;
  dataDir: string;
  migrations: MigrationSource;
  /** Is asked once the schema is up to date. */
  load(): Promise<{ sealer: Sealer; columns: readonly SealedColumn[]; lostKeyIds: readonly string[] }>;
  print(line: string): void;
}

/**
 * Seals everything of a service with its newest key, beside running processes. False while something is left that only
 * an older key opens.
 */
export async function runRotation(command: RotationCommand): Promise<boolean> {
  const { name, dataDir, migrations } = command;
  // Without the service's settings it would find nothing to seal in a new database, and the older keys would seem to be free.
  const embedded =
    command.databaseUrl === undefined
      ? await startEmbedded({ dataDir, user: `${name}-rotate`, existing: true })
      : undefined;
  try {
    const url = command.databaseUrl ?? (embedded?.url as string);
    await migrate(url, migrations);
    const { sealer, columns, lostKeyIds } = await command.load();
    const database = await openDatabase({ url, schema: migrations.schema, connectionsMax: CONNECTIONS_MAX });
    try {
      const { clean } = await resealEverything({ database, sealer, columns, lostKeyIds }, (tally) =>
        command.print(`${name}: ${describeTally(sealer, tally, command.keyVariable)}\n`),
      );
      return clean;
    } finally {
      await database.close();
    }
  } finally {
    await embedded?.stop();
  }
}
