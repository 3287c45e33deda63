// Seals everything with the newest key of PAYMENTS_ENCRYPTION_KEY, beside running processes, and says when the older keys may go.
import { randomBytes } from 'node:crypto';
import { ROTATION_FAILURES, runRotation } from '@libs/rotation';
import { runMain } from '@libs/runtime';
import { loadConfig, settingWarnings } from '../config.ts';
import { paymentsMigrations } from '../migrations.ts';
import { loadSecrets } from '../secrets.ts';
import { sealedColumns } from './columns.ts';

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  for (const warning of settingWarnings(process.env)) process.stderr.write(`payments: ${warning}\n`);
  const isClean = await runRotation({
    name: 'payments',
    keyVariable: 'PAYMENTS_ENCRYPTION_KEY',
    databaseUrl: config.database.directUrl ?? config.database.url,
    dataDir: config.dataDir,
    migrations: paymentsMigrations(),
    async load() {
      const { sealer } = await loadSecrets(config, randomBytes);
      return { sealer, columns: sealedColumns(sealer), lostKeyIds: config.lostKeyIds };
    },
    print: (line) => process.stdout.write(line),
  });
  if (!isClean) process.exitCode = 1;
}

await runMain(main, ROTATION_FAILURES);
