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
import { createToolhub } from './app.ts';
import { CALL_LONGEST_MS } from './calls/call-times.ts';
import { type Config, loadConfig, settingWarnings } from './config.ts';
import type { Connector } from './connectors/connector.ts';
import { createConnectors } from './connectors/index.ts';
import { checkKeysAtStart } from './rotation/start-check.ts';
import { migrationSource, SCHEMA } from './schema.ts';
import { TOOLHUB_TABLES } from './spreading/tables.ts';
import { welcome } from './welcome.ts';

const CONNECTIONS_MAX = 20;
/** What a call may take beside its platform: to be counted, recorded and sent. */
const ANSWER_MS = 5_000;

async function main(): Promise<void> {
  const connectors = createConnectors();
  const config = await loadConfig(process.env, connectors);
  await closingOnFailure((closers) => start(config, connectors, closers));
}

async function start(config: Config, connectors: readonly Connector[], closers: Closer[]): Promise<void> {
  const log = createLogger({ name: 'toolhub', level: config.server.logLevel });
  // Before anything that may fail because of it.
  for (const warning of settingWarnings(process.env, connectors)) log.warn(warning);
  const url = config.databaseUrl ?? (await startDatabase(config, closers));
  const { databaseDirectUrl: directUrl, preparedStatements } = config;
  await prepareSchema({
    ...{ url: directUrl ?? url, source: migrationSource, tables: TOOLHUB_TABLES },
    command: 'npm run toolhub -- spread',
  });
  const metrics = createMetrics({ service: 'toolhub' });
  const database = await openDatabase({
    ...{ url, directUrl, preparedStatements },
    schema: SCHEMA,
    connectionsMax: CONNECTIONS_MAX,
    timeouts: { statementMs: config.statementTimeoutMs },
    onError: (error) => log.warn({ err: error }, 'work after a commit failed'),
    outage: createLoggedOutage(log, {
      ...{ level: 'warn', began: 'a database connection failed', ended: 'database connections work again' },
    }),
    ...(config.development ? {} : { onSecondConnection: reportSecondConnections({ metrics, log }) }),
  });
  closers.unshift({ name: 'database', close: () => database.close() });
  await checkKeysAtStart({ config, database, log });
  const toolhub = await createToolhub({ config, database, connectors, metrics });
  closers.unshift({ name: 'toolhub', close: () => toolhub.close() });
  await toolhub.startJobs();
  await listen(toolhub.app, {
    host: config.server.host,
    port: config.server.port,
    portVariable: 'TOOLHUB_PORT',
    hostVariable: 'TOOLHUB_HOST',
  });
  // Who reads that it runs may end it at once, so signals are listened for before that is said.
  const running = runUntilSignal({
    ...{ app: toolhub.app, onDrain: () => toolhub.stopJobs(), closers },
    drainTimeoutMs: CALL_LONGEST_MS + ANSWER_MS,
  });
  logDestination().write(welcome(config));
  await running;
}

async function startDatabase(config: Config, closers: Closer[]): Promise<string> {
  const server = await startEmbedded({ dataDir: config.dataDir, user: SCHEMA });
  closers.unshift({ name: 'embedded database', close: () => server.stop() });
  return server.url;
}

await runMain(main, {
  startErrors: [DatabaseUnreachable, DataFolderError, MigrationError, SealError, SpreadError],
  isOutage: isDatabaseAway,
});
