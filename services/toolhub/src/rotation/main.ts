// Seals everything with the newest key of TOOLHUB_ENCRYPTION_KEY, beside running processes, and says when the older keys may go.
import { ROTATION_FAILURES, runRotation } from '@libs/rotation';
import { runMain } from '@libs/runtime';
import { createSealer } from '@libs/seal';
import { loadConfig, settingWarnings } from '../config.ts';
import { createConnectors } from '../connectors/index.ts';
import { migrationSource } from '../schema.ts';
import { sealedColumns } from './columns.ts';

async function main(): Promise<void> {
  const connectors = createConnectors();
  const config = await loadConfig(process.env, connectors);
  for (const warning of settingWarnings(process.env, connectors))
    process.stderr.write(`toolhub: ${warning}\n`);
  const isClean = await runRotation({
    name: 'toolhub',
    keyVariable: 'TOOLHUB_ENCRYPTION_KEY',
    databaseUrl: config.databaseDirectUrl ?? config.databaseUrl,
    dataDir: config.dataDir,
    migrations: migrationSource,
    load: async () => ({
      sealer: createSealer({ keys: config.secrets.encryptionKeys }),
      columns: sealedColumns,
      lostKeyIds: config.secrets.lostKeyIds,
    }),
    print: (line) => process.stdout.write(line),
  });
  if (!isClean) process.exitCode = 1;
}

await runMain(main, ROTATION_FAILURES);
