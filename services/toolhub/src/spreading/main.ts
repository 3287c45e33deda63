// npm run toolhub -- spread: places the tables of an empty installation on the servers of a Citus cluster.
import { DatabaseUnreachable, isDatabaseAway, MigrationError, migrate, SpreadError, spread } from '@libs/db';
import { runMain, StartError } from '@libs/runtime';
import { loadConfig, settingWarnings } from '../config.ts';
import { createConnectors } from '../connectors/index.ts';
import { migrationSource } from '../schema.ts';
import { TOOLHUB_TABLES } from './tables.ts';

async function main(): Promise<void> {
  const connectors = createConnectors();
  const config = await loadConfig(process.env, connectors);
  for (const warning of settingWarnings(process.env, connectors))
    process.stderr.write(`toolhub: ${warning}\n`);
  const url = config.databaseDirectUrl ?? config.databaseUrl;
  if (url === undefined)
    throw new StartError('TOOLHUB_DATABASE_URL must name the coordinator of a Citus cluster');
  await migrate(url, migrationSource);
  const print = (line: string) => process.stdout.write(`toolhub: ${line}\n`);
  const count = await spread({ url, tables: TOOLHUB_TABLES, onPlaced: (table) => print(`placed ${table}`) });
  print(`${count} tables were placed; see services/toolhub/src/spreading/README.md for what runs on them`);
}

await runMain(main, {
  startErrors: [DatabaseUnreachable, MigrationError, SpreadError],
  isOutage: isDatabaseAway,
});
