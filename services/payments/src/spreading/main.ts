// npm run payments -- spread: places the tables of an empty installation on the servers of a Citus cluster.
import { DatabaseUnreachable, isDatabaseAway, MigrationError, migrate, SpreadError, spread } from '@libs/db';
import { runMain, StartError } from '@libs/runtime';
import { loadConfig, settingWarnings } from '../config.ts';
import { paymentsMigrations } from '../migrations.ts';
import { PAYMENTS_TABLES } from './tables.ts';

async function main(): Promise<void> {
  const { database } = loadConfig(process.env);
  for (const warning of settingWarnings(process.env)) process.stderr.write(`payments: ${warning}\n`);
  const url = database.directUrl ?? database.url;
  if (url === undefined)
    throw new StartError('PAYMENTS_DATABASE_URL must name the coordinator of a Citus cluster');
  await migrate(url, paymentsMigrations());
  const print = (line: string) => process.stdout.write(`payments: ${line}\n`);
  const count = await spread({ url, tables: PAYMENTS_TABLES, onPlaced: (table) => print(`placed ${table}`) });
  print(`${count} tables were placed; see services/payments/src/spreading/README.md for what runs on them`);
}

await runMain(main, {
  startErrors: [DatabaseUnreachable, MigrationError, SpreadError],
  isOutage: isDatabaseAway,
});
