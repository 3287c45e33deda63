// Boots the real service on a free port, with what a test wants to be different, and speaks HTTP to it.
import { openDatabase } from '@libs/db';
import { connectionTo, createTestDatabase, databaseSettings, type TestDatabase } from '@libs/db/testing';
import { watchExchanges } from '@libs/http/testing';
import { createToolhub, type ToolhubDependencies } from '../../../services/toolhub/src/app.ts';
import { loadConfig } from '../../../services/toolhub/src/config.ts';
import { createConnectors } from '../../../services/toolhub/src/connectors/index.ts';
import { migrationSource, SCHEMA } from '../../../services/toolhub/src/schema.ts';
import { TOOLHUB_TABLES } from '../../../services/toolhub/src/spreading/tables.ts';
import { type Account, call, makeToken, signUp } from '../../../services/toolhub/test/accounts.ts';
import { freePort } from '../../../services/toolhub/test/instance.ts';

export { call } from '../../../services/toolhub/test/accounts.ts';

export const ADMIN_TOKEN = 'tha_admin-token-of-the-tests';
export const INTERNAL_TOKEN = 'thi_internal-token-of-the-tests';
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');

/** Real time with an offset that tests move. */
export interface TestTime {
  now(): Date;
  advance(milliseconds: number): void;
}

export function createTime(): TestTime {
  let offsetMs = 0;
  return {
    now: () => new Date(Date.now() + offsetMs),
    advance(milliseconds) {
      offsetMs += milliseconds;
    },
  };
}

export interface Service {
  url: string;
  stop(): Promise<void>;
}

export type ServiceOptions = Partial<Pick<ToolhubDependencies, 'connectors' | 'webhooks' | 'now'>> & {
  env?: Record<string, string>;
  /** Without jobs it only serves requests. */
  jobs?: boolean;
};

export function createToolhubDatabase(): Promise<TestDatabase> {
  return createTestDatabase(migrationSource, TOOLHUB_TABLES);
}

/** What a process needs beside its port. */
export function environment(databaseUrl: string, port: number): Record<string, string> {
  return {
    TOOLHUB_PORT: String(port),
    ...databaseSettings('TOOLHUB', databaseUrl),
    TOOLHUB_ENCRYPTION_KEY: ENCRYPTION_KEY,
    TOOLHUB_ADMIN_TOKEN: ADMIN_TOKEN,
    TOOLHUB_INTERNAL_TOKENS: `tests:${INTERNAL_TOKEN}`,
    TOOLHUB_LOG_LEVEL: 'error',
    TOOLHUB_RATE_ADDRESS: '0',
    TOOLHUB_RATE_API: '0',
  };
}

/** One process of the service; several on one database are several processes. */
export async function startService(databaseUrl: string, options: ServiceOptions = {}): Promise<Service> {
  const { env = {}, jobs = true, ...different } = options;
  const port = await freePort();
  const { connectors = createConnectors() } = options;
  const config = await loadConfig({ ...environment(databaseUrl, port), ...env }, connectors);
  const database = await openDatabase({ ...connectionTo(databaseUrl), schema: SCHEMA, connectionsMax: 12 });
  const toolhub = await createToolhub({ config, database, ...different, connectors });
  if (jobs) await toolhub.startJobs();
  await toolhub.app.listen({ host: '127.0.0.1', port });
  watchExchanges(`http://localhost:${port}`, () => toolhub.app.openapi());
  return {
    url: `http://localhost:${port}`,
    async stop() {
      await toolhub.app.drain({ timeoutMs: 2_000 });
      await toolhub.stopJobs();
      await toolhub.close();
      await database.close();
    },
  };
}

export interface Customer extends Account {
  /** May read and change the account. */
  token: string;
}

export async function newCustomer(url: string): Promise<Customer> {
  const account = await signUp(url);
  const { token } = await makeToken(url, account, { scopes: ['account:read', 'account:write'] });
  return { ...account, token };
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into freely by the tests.
  body: any;
}

export type Api = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** Calls with a token. */
export function apiOf(url: string, token: string): Api {
  return async (method, path, body) => {
    const { status, body: answer } = await call(url + path, {
      method,
      token,
      ...(body === undefined ? {} : { body }),
    });
    return { status, body: answer };
  };
}
