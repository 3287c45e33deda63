import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Database } from '@libs/db';
import { openDatabase } from '@libs/db';
import { connectionTo, createTestDatabase, databaseSettings, type TestDatabase } from '@libs/db/testing';
import { watchExchanges } from '@libs/http/testing';
import { freePort } from '@libs/runtime/testing';
import { createToolhub, type ToolhubDependencies } from '../src/app.ts';
import { loadConfig } from '../src/config.ts';
import { createConnectors } from '../src/connectors/index.ts';
import { migrationSource, SCHEMA } from '../src/schema.ts';
import { TOOLHUB_TABLES } from '../src/spreading/tables.ts';

export const ADMIN_TOKEN = 'tha_test-admin-token';
export const INTERNAL_TOKEN = 'thi_test-internal-token';
const ENCRYPTION_KEY = randomBytes(32).toString('base64');

export interface Instance {
  /** Where it listens, which is also its public address. */
  url: string;
  stop(): Promise<void>;
}

export interface SpawnedInstance extends Instance {
  pid: number;
  /** At once, as when the machine loses its power. */
  kill(): Promise<void>;
  /** The longest that one turn of its event loop has taken since this was last asked, in processor time. */
  longestHoldMs(): Promise<number>;
}

export function createToolhubDatabase(): Promise<TestDatabase> {
  return createTestDatabase(migrationSource, TOOLHUB_TABLES);
}

/** What a process needs, and what a test wants to be different. */
export function environment(
  databaseUrl: string,
  publicPort: number,
  extra: Record<string, string> = {},
): Record<string, string> {
  return {
    TOOLHUB_PORT: String(publicPort),
    ...databaseSettings('TOOLHUB', databaseUrl),
    TOOLHUB_ENCRYPTION_KEY: ENCRYPTION_KEY,
    TOOLHUB_ADMIN_TOKEN: ADMIN_TOKEN,
    TOOLHUB_INTERNAL_TOKENS: `tests:${INTERNAL_TOKEN}`,
    TOOLHUB_LOG_LEVEL: 'error',
    TOOLHUB_RATE_ADDRESS: '0',
    TOOLHUB_RATE_API: '0',
    ...extra,
  };
}

export interface InstanceOptions {
  env?: Record<string, string>;
  now?: () => Date;
  /** Shares the public address of another one, as processes behind one balancer do. */
  publicUrl?: string;
  fetchDocument?: ToolhubDependencies['fetchDocument'];
  connectors?: ToolhubDependencies['connectors'];
  webhooks?: ToolhubDependencies['webhooks'];
  /** Takes jobs, too. */
  jobs?: boolean;
  /** That of one that was stopped: it comes back at the same address. */
  port?: number;
  /** Between the service and its database, to hear what it asks. */
  overhear?: (database: Database) => Database;
}

/** Some tests stop it while a receiver of theirs still hangs. */
const DRAIN_MS = 2_000;

/** The whole service in this process, on a port of its own. */
export async function startInstance(databaseUrl: string, options: InstanceOptions = {}): Promise<Instance> {
  const port = options.port ?? (await freePort());
  const env = environment(databaseUrl, port, options.env);
  if (options.publicUrl !== undefined) env.TOOLHUB_PUBLIC_URL = options.publicUrl;
  const connectors = options.connectors ?? createConnectors();
  const config = await loadConfig(env, connectors);
  const { now, fetchDocument, webhooks, overhear = (opened: Database) => opened } = options;
  const database = overhear(await openDatabase({ ...connectionTo(databaseUrl), schema: SCHEMA }));
  const toolhub = await createToolhub({
    config,
    database,
    ...(now ? { now } : {}),
    ...(fetchDocument ? { fetchDocument } : {}),
    ...(webhooks ? { webhooks } : {}),
    connectors,
  });
  if (options.jobs === true) await toolhub.startJobs();
  await toolhub.app.listen({ host: '127.0.0.1', port });
  watchExchanges(`http://localhost:${port}`, () => toolhub.app.openapi());
  const front = isElsewhere(options.publicUrl) ? await openFront(options.publicUrl, port) : undefined;
  return {
    url: `http://localhost:${front?.port ?? port}`,
    async stop() {
      front?.close();
      await toolhub.app.drain({ timeoutMs: DRAIN_MS });
      if (options.jobs === true) await toolhub.stopJobs();
      await toolhub.close();
      await database.close();
    },
  };
}

export interface LoneInstance extends Instance {
  database: TestDatabase;
}

/** One that is alone on its database, which ends with it. */
export async function startAlone(options: InstanceOptions = {}): Promise<LoneInstance> {
  const database = await createToolhubDatabase();
  const instance = await startInstance(database.url, options);
  return {
    url: instance.url,
    database,
    async stop() {
      await instance.stop();
      await database.drop();
    },
  };
}

function isElsewhere(publicUrl: string | undefined): publicUrl is string {
  return publicUrl !== undefined && new URL(publicUrl).hostname !== 'localhost';
}

/** What ends TLS in front of a service: it passes requests on under the public name. */
async function openFront(publicUrl: string, port: number): Promise<{ port: number; close(): void }> {
  const { host } = new URL(publicUrl);
  const front = createHttpServer((incoming, response) => {
    const { method, url: path, headers } = incoming;
    const options = { host: '127.0.0.1', port, method, path, headers: { ...headers, host } };
    const passedOn = httpRequest(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(passedOn);
  }).listen(0, '127.0.0.1');
  await once(front, 'listening');
  return {
    port: (front.address() as { port: number }).port,
    close() {
      front.closeAllConnections();
      front.close();
    },
  };
}

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const holdMonitor = new URL('./hold-monitor.ts', import.meta.url).href;

/** The whole service as the process that `npm start` runs. */
export async function spawnInstance(
  databaseUrl: string,
  options: InstanceOptions = {},
): Promise<SpawnedInstance> {
  const port = await freePort();
  const env = environment(databaseUrl, port, options.env);
  if (options.publicUrl !== undefined) env.TOOLHUB_PUBLIC_URL = options.publicUrl;
  const args = ['--disable-warning=ExperimentalWarning', '--import', holdMonitor, main];
  const child = spawn(process.execPath, args, {
    env: { ...env, PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const url = `http://localhost:${port}`;
  await Promise.race([
    untilReady(url),
    exited.then(([code]) => {
      throw new Error(`the service stopped with ${code}`);
    }),
  ]);
  return {
    url,
    pid: child.pid as number,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    async longestHoldMs() {
      const answered = once(child, 'message');
      child.send('longest');
      const [{ longestMs }] = (await answered) as [{ longestMs: number }];
      return longestMs;
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

const READY_TRIES_MAX = 2_400;

async function untilReady(url: string): Promise<void> {
  for (let tries = 0; tries < READY_TRIES_MAX; tries += 1) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.status === 200) return;
    await new Promise((resume) => setTimeout(resume, 50));
  }
  throw new Error(`${url} did not become ready`);
}
