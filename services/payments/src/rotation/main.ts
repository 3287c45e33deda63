// Seals everything with the newest key of PAYMENTS_ENCRYPTION_KEY, beside running processes, and says when the older keys may go.
import { randomBytes } from 'node:crypto';
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
import { SealError } from '@libs/seal';
import { loadConfig } from '../config.ts';
import { paymentsMigrations, SCHEMA } from '../migrations.ts';
import { loadSecrets } from '../secrets.ts';
import { sealedColumns } from './columns.ts';

const CONNECTIONS_MAX = 2;

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const embedded =
    config.database.url === undefined
      ? await startEmbedded({ dataDir: config.dataDir, user: 'payments-rotate' })
      : undefined;
  try {
    const url = config.database.url ?? (embedded?.url as string);
    await migrate(url, paymentsMigrations());
    const { sealer } = await loadSecrets(config, randomBytes);
    const database = await openDatabase({ url, schema: SCHEMA, connectionsMax: CONNECTIONS_MAX });
    try {
      const columns = sealedColumns(sealer);
      const { clean } = await resealEverything({ database, sealer, columns }, (tally) =>
        process.stdout.write(`payments: ${describeTally(sealer, tally, 'PAYMENTS_ENCRYPTION_KEY')}\n`),
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
