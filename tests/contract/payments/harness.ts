// Boots the real service on a free port with a database of its own, and speaks HTTP to it.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase } from '@libs/db';
import { connectionTo, createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { checkExchange, watchExchanges } from '@libs/http/testing';
import { listen } from '@libs/runtime';
import { createIdFactory, createSealer } from '@libs/seal';
import {
  createPayments,
  type Payments,
  type PaymentsAppDependencies,
} from '../../../services/payments/src/app.ts';
import { loadConfig } from '../../../services/payments/src/config.ts';
import { paymentsMigrations, SCHEMA } from '../../../services/payments/src/migrations.ts';
import { PAYMENTS_TABLES } from '../../../services/payments/src/spreading/tables.ts';

export const ADMIN_TOKEN = 'admin_token_of_the_tests';
export const SANDBOX_KEY = 'sk_test_sandbox';
/** As many as test mode has for itself. */
export const TEST_CONNECTIONS = 5;
export const SEAL_KEY = Buffer.alloc(32, 7);
/** A sandbox clock goes forward alone, and at most ten years: a year that is written down would be in the past one day. */
export const NEXT_YEAR = new Date().getUTCFullYear() + 1;

/** Real time with an offset that tests move. */
export interface TestTime {
  now(): Date;
  advance(milliseconds: number): void;
}

function createTime(): TestTime {
  let offsetMs = 0;
  return {
    now: () => new Date(Date.now() + offsetMs),
    advance(milliseconds) {
      offsetMs += milliseconds;
    },
  };
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into freely by the tests.
  body: any;
}

export interface CallOptions {
  key?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
  /** Sent as it is, instead of `body`. */
  raw?: string;
}

export interface Instance {
  url: string;
  database: Database;
  parts: Payments['parts'];
  errors: unknown[];
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  stop(): Promise<void>;
}

export interface InstanceOptions {
  env?: Record<string, string>;
  time?: TestTime;
  service?: Partial<Pick<PaymentsAppDependencies, 'webhooks' | 'random' | 'secrets'>>;
  /** Between the service and each of its databases, to hear what it asks. */
  overhear?: (database: Database) => Database;
}

/** One process of the service; several on one database are several processes. */
export async function startInstance(
  testDatabase: Pick<TestDatabase, 'url'> & { dataDir: string },
  options: InstanceOptions = {},
): Promise<Instance> {
  const { now } = options.time ?? { now: () => new Date() };
  const config = loadConfig({
    PAYMENTS_PORT: '0',
    PAYMENTS_LOG_LEVEL: 'silent',
    PAYMENTS_RATE_LIVE: '0',
    PAYMENTS_RATE_TEST: '0',
    PAYMENTS_RATE_ADDRESS: '0',
    DATA_DIR: testDatabase.dataDir,
    ...options.env,
  });
  const errors: unknown[] = [];
  const { overhear = (opened: Database) => opened } = options;
  const open = async (connectionsMax: number) =>
    overhear(await openDatabase({ ...connectionTo(testDatabase.url), schema: SCHEMA, connectionsMax }));
  const [database, forTestMode] = await Promise.all([open(10), open(TEST_CONNECTIONS)]);
  const payments = await createPayments({
    ...{ config, database, testDatabase: forTestMode, now, random: () => 0 },
    secrets: { sealer: createSealer({ keys: [SEAL_KEY] }), adminToken: ADMIN_TOKEN },
    newId: createIdFactory({ now: () => new Date(), randomBytes }),
    onError: (error) => errors.push(error),
    app: { defaultMetrics: false },
    ...options.service,
  });
  if (config.role !== 'api') await payments.startJobs();
  const { url } = await listen(payments.app, { host: '127.0.0.1', port: config.http.port });
  watchExchanges(url, () => payments.app.openapi());
  let stopping: Promise<void> | undefined;
  const stop = async () => {
    await payments.app.drain({ timeoutMs: 2_000 });
    await payments.close();
    await Promise.all([database.close(), forTestMode.close()]);
  };
  return {
    url,
    database,
    parts: payments.parts,
    errors,
    call: (method, path, call) => callApi(url, method, path, call),
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

async function callApi(
  url: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { key = SANDBOX_KEY, body, raw } = options;
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const headers = {
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
    ...options.headers,
  };
  const response = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(sent === undefined ? {} : { body: sent }),
    redirect: 'manual',
  });
  const text = await response.text();
  const received = { status: response.status, headers: response.headers, text };
  checkExchange(`${url}${path}`, { method, headers, body: sent }, received);
  const isJson = /json/.test(response.headers.get('content-type') ?? '') && text !== '';
  return { ...received, body: isJson ? JSON.parse(text) : text };
}

export interface Harness extends Instance {
  testDatabase: TestDatabase & { dataDir: string };
  time: TestTime;
  /** Ends the process and keeps its database. */
  stopServing(): Promise<void>;
  /** Another process on the same database; stopped with the harness. */
  another(options?: InstanceOptions): Promise<Instance>;
  /** An organisation with a test and a live key. */
  organisation(): Promise<{ id: string; test: string; live: string; keyIds: { test: string; live: string } }>;
  /** A key of an organisation, restricted to some scopes. */
  key(organisationId: string, request: Record<string, unknown>): Promise<{ id: string; key: string }>;
}

const ADMIN_TRIES_MAX = 20;

/** A fresh database with one process on it. */
export async function startHarness(options: InstanceOptions = {}): Promise<Harness> {
  const time = options.time ?? createTime();
  const dataDir = await mkdtemp(join(tmpdir(), 'payments-contract-'));
  const testDatabase = { ...(await createTestDatabase(paymentsMigrations(), PAYMENTS_TABLES)), dataDir };
  const instance = await startInstance(testDatabase, { ...options, time });
  const others: Instance[] = [];
  const admin = async (path: string, body: unknown) => {
    for (let tries = 1; ; tries += 1) {
      const answer = await instance.call('POST', path, { key: ADMIN_TOKEN, body });
      if (answer.status === 201) return answer.body;
      // As its answer asks for: on a machine that stands still for seconds no connection is to be had at first.
      if (answer.status !== 503 || tries === ADMIN_TRIES_MAX)
        throw new Error(`${path} answered ${answer.status} ${answer.text}`);
      await sleep(500);
    }
  };
  return {
    ...instance,
    testDatabase,
    time,
    stopServing: () => instance.stop(),
    async another(more) {
      const other = await startInstance(testDatabase, { ...options, time, ...more });
      others.push(other);
      return other;
    },
    async organisation() {
      const made = await admin('/v1/admin/organisations', { name: 'Acme' });
      return { id: made.organisation.id, ...made.keys, keyIds: made.key_ids };
    },
    key: (organisationId, request) => admin(`/v1/admin/organisations/${organisationId}/keys`, request),
    async stop() {
      for (const other of others) await other.stop();
      await instance.stop();
      await testDatabase.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
