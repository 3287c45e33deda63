import type { Database } from '@libs/db';
import { type App, createApp } from '@libs/http';
import type { Config } from './config.ts';
import { errors } from './errors.ts';

export interface ToolhubOptions {
  config: Config;
  database: Database;
}

export interface Toolhub {
  app: App;
  close(): Promise<void>;
}

export async function createToolhub({ config, database }: ToolhubOptions): Promise<Toolhub> {
  const app = await createApp({
    name: 'toolhub',
    version: '0.1.0',
    publicUrl: config.server.publicUrl,
    logLevel: config.server.logLevel,
    ...(config.server.trustProxy === undefined ? {} : { trustProxy: config.server.trustProxy }),
    errors,
    readiness: async () => {
      await database.query('select 1');
    },
  });
  return { app, close: async () => {} };
}
