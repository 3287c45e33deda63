import { randomBytes } from 'node:crypto';
import {
  DatabaseUnreachable,
  DataFolderError,
  isDatabaseAway,
  MigrationError,
  openDatabase,
  prepareSchema,
  reportSecondConnections,
  SpreadError,
  startEmbedded,
} from '@libs/db';
import {
  type Closer,
  closingOnFailure,
  createLoggedOutage,
  createLogger,
  createMetrics,
  listen,
  logDestination,
  runMain,
  runUntilSignal,
} from '@libs/runtime';
import { SealError } from '@libs/seal';
import { createPayments } from './app.ts';
import { loadConfig, type PaymentsConfig, settingWarnings } from './config.ts';
import { paymentsMigrations, SCHEMA } from './migrations.ts';
import { certificateWarnings } from './rails/certificates.ts';
import { checkKeysAtStart } from './rotation/start-check.ts';
import { loadSecrets } from './secrets.ts';
import { PAYMENTS_TABLES } from './spreading/tables.ts';
import { welcome } from './welcome.ts';

async function openStorage(config: PaymentsConfig, closers: Closer[]): Promise<string> {
  if (config.database.url !== undefined) return config.database.url;
  // One process of each role on a folder: a second one is told that the first is there.
  const server = await startEmbedded({ dataDir: config.dataDir, user: `payments-${config.role}` });
  closers.unshift({ name: 'embedded database', close: () => server.stop() });
  return server.url;
}

async function start(config: PaymentsConfig, closers: Closer[]): Promise<void> {
  const log = createLogger({ name: 'payments', level: config.http.logLevel });
  // Before anything that may fail because of it.
  for (const warning of settingWarnings(process.env)) log.warn(warning);
  const url = await openStorage(config, closers);
  const { directUrl, preparedStatements } = config.database;
  await prepareSchema({
    ...{ url: directUrl ?? url, source: paymentsMigrations(), tables: PAYMENTS_TABLES },
    command: 'npm run payments -- spread',
  });
  for (const warning of certificateWarnings(config.rails.certificates, new Date())) log.warn(warning);
  const metrics = createMetrics({ service: 'payments' });
  const onSecondConnection = config.development ? undefined : reportSecondConnections({ metrics, log });
  const outage = createLoggedOutage(log, {
    ...{ level: 'warn', began: 'a database connection failed', ended: 'database connections work again' },
  });
  const open = async (connectionsMax: number) => {
    const opened = await openDatabase({
      ...{ url, directUrl, preparedStatements, schema: SCHEMA, connectionsMax },
      timeouts: { statementMs: config.database.statementTimeoutMs },
      ...(onSecondConnection ? { onSecondConnection } : {}),
      onError: (error) => log.warn({ err: error }, 'work after a commit failed'),
      outage,
    });
    closers.unshift({ name: 'database', close: () => opened.close() });
    return opened;
  };
  const database = await open(config.database.connectionsMax);
  // A worker serves no requests, so it needs none for them.
  const testDatabase = config.role === 'worker' ? database : await open(config.database.testConnectionsMax);
  const secrets = await loadSecrets(config, randomBytes);
  await checkKeysAtStart({ config, database, log, sealer: secrets.sealer });
  const payments = await createPayments({ config, database, testDatabase, secrets, app: { metrics } });
  closers.unshift({ name: 'payments', close: () => payments.close() });
  if (config.role !== 'api') await payments.startJobs();
  // A worker serves nothing but health and metrics, so it listens only where it was told to.
  const listening =
    config.role !== 'worker' || config.http.portIsSet
      ? await listen(payments.app, {
          ...config.http,
          portVariable: 'PAYMENTS_PORT',
          hostVariable: 'PAYMENTS_HOST',
        })
      : undefined;
  const running = runUntilSignal({ app: payments.app, onDrain: () => payments.stopJobs(), closers });
  if (listening) logDestination().write(welcome(config, { address: listening.url, ...secrets }));
  await running;
}

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  await closingOnFailure((closers) => start(config, closers));
}

await runMain(main, {
  startErrors: [DatabaseUnreachable, DataFolderError, MigrationError, SealError, SpreadError],
  isOutage: isDatabaseAway,
});
