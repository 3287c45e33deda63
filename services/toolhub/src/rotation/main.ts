// Seals everything with the newest key of TOOLHUB_ENCRYPTION_KEY, beside running processes, and says when the older keys may go.
import {
  DatabaseUnreachable,
  DataFolderError,
  MigrationError,
  migrate,
  openDatabase,
  startEmbedded,
} from '@libs/db';
import { describeTally, resealEverything } from '@libs/rotation';
import { runMain } from '@libs/runtime';
import { createSealer, SealError } from '@libs/seal';
import { loadConfig } from '../config.ts';
import { createConnectors } from '../connectors/index.ts';
import { migrationSource, SCHEMA } from '../schema.ts';
import { sealedColumns } from './columns.ts';

const CONNECTIONS_MAX = 2;

async function main(): Promise<void> {
  const config = await loadConfig(process.env, createConnectors());
  const embedded =
    config.databaseUrl === undefined
      ? await startEmbedded({ dataDir: config.dataDir, user: 'toolhub-rotate' })
      : undefined;
  try {
    const url = config.databaseUrl ?? (embedded?.url as string);
    await migrate(url, migrationSource);
    const sealer = createSealer({ keys: config.secrets.encryptionKeys });
    const database = await openDatabase({ url, schema: SCHEMA, connectionsMax: CONNECTIONS_MAX });
    try {
      const { clean } = await resealEverything({ database, sealer, columns: sealedColumns }, (tally) =>
        process.stdout.write(`toolhub: ${describeTally(sealer, tally, 'TOOLHUB_ENCRYPTION_KEY')}\n`),
      );
      if (!clean) process.exitCode = 1;
    } finally {
      await database.close();
    }
  } finally {
    await embedded?.stop();
  }
}

await runMain(main, { startErrors: [DatabaseUnreachable, DataFolderError, MigrationError, SealError] });
