// Toolhub as an operator runs it, but with the platform of the benchmarks; tells its parent when it listens.
import { migrate, openDatabase } from '@libs/db';
import { listen, runMain } from '@libs/runtime';
import { createToolhub } from '../../services/toolhub/src/app.ts';
import { loadConfig } from '../../services/toolhub/src/config.ts';
import { migrationSource, SCHEMA } from '../../services/toolhub/src/schema.ts';
import { benchPlatform } from './platform.ts';

async function main(): Promise<void> {
  const connectors = [benchPlatform()];
  const config = await loadConfig(process.env, connectors);
  const url = config.databaseUrl;
  if (url === undefined) throw new Error('the benchmark brings its own database');
  await migrate(url, migrationSource);
  const database = await openDatabase({ url, schema: SCHEMA, connectionsMax: 20 });
  const { app } = await createToolhub({ config, database, connectors });
  await listen(app, { host: config.server.host, port: config.server.port });
  process.send?.('ready');
  process.once('disconnect', () => process.exit(0));
}

await runMain(main);
