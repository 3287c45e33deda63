// Under load, whatever can go wrong goes wrong, again and again. What a client was promised must be there, once.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, migrate, openDatabase } from '@libs/db';
import { createTestDatabase } from '@libs/db/testing';
import { freePort } from '@libs/runtime/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paymentsMigrations, SCHEMA } from '../../services/payments/src/migrations.ts';
import { randomFrom } from '../month/orders.ts';
import { type CarefulClients, startCarefulClients } from './careful-clients.ts';
import { DISTURBANCES, possibleIn, type Surroundings } from './disturbances.ts';
import { startOwnPostgres } from './own-postgres.ts';
import { createServiceProcess } from './service-process.ts';
import {
  type MailServer,
  startMailServer,
  startReceiver,
  type WebhookReceiver,
} from './vanishing-servers.ts';
import { startWire, throughWire } from './wire.ts';

/** `npm run faults`: each disturbance so many times, with a database of its own; the short form once. */
const ROUNDS = Number(process.env.FAULTS_ROUNDS ?? 1);
const IS_LONG = process.env.FAULTS_ROUNDS !== undefined;
/** The same seed gives the same disturbances in the same order. */
const SEED = Number(process.env.FAULTS_SEED ?? 20_261_115);
const PROCESSES = 2;
/** Longer than the lease of a job in the long form. */
const LASTS_MS_MAX = IS_LONG ? 14_000 : 800;
const CALM_MS = IS_LONG ? 1_500 : 200;
const END_MS_MAX = IS_LONG ? 600_000 : 240_000;
/** After the first failure a delivery is tried again within seconds. */
const FIRST_TRIES_MS_MAX = IS_LONG ? 12_000 : 3_000;
const HOUR_MS = 3_600_000;
/** Until a process whose clock was moved has looked into its queue. */
const AN_HOUR_PASSED_MS_MAX = 6_000;
const KEY = 'sk_test_sandbox';

// Of the disturbances alone: clients take as many numbers as time allows, and no run would repeat another.
const random = randomFrom(SEED);
const closing: (() => Promise<unknown>)[] = [];
let surroundings: Surroundings & { receiver: WebhookReceiver; mail: MailServer };
let database: Database;

async function openStorage() {
  if (!IS_LONG) {
    const testDatabase = await createTestDatabase(paymentsMigrations());
    closing.push(() => testDatabase.drop());
    return { url: testDatabase.url, postgres: null };
  }
  const postgres = await startOwnPostgres();
  closing.push(() => postgres.stop());
  await migrate(postgres.url, paymentsMigrations());
  return { url: postgres.url, postgres };
}

beforeAll(async () => {
  const { url, postgres } = await openStorage();
  const dataDir = await mkdtemp(join(tmpdir(), 'storm-'));
  closing.push(() => rm(dataDir, { recursive: true, force: true }));
  const receiver = await startReceiver(await freePort());
  const mail = await startMailServer(await freePort());
  closing.push(
    () => receiver.vanish(),
    () => mail.vanish(),
  );
  const { hostname, port } = new URL(url);
  const processes = await Promise.all(
    Array.from({ length: PROCESSES }, async () => {
      const wire = await startWire({ to: () => ({ host: hostname, port: Number(port) }) });
      const service = await createServiceProcess({
        ...{ DATABASE_URL: throughWire(url, wire), DATA_DIR: dataDir, SMTP_URL: mail.url },
        ...{ PAYMENTS_RATE_TEST: '0', PAYMENTS_RATE_ADDRESS: '0', PAYMENTS_LOG_LEVEL: 'fatal' },
        // Whoever was held up catches up in strides of an eighth of this: short ones would be too many after a long outage.
        ...{ PAYMENTS_SANDBOX_RTP_MS: '20', PAYMENTS_SANDBOX_ACH_MS: IS_LONG ? '2000' : '200' },
      });
      closing.push(
        () => service.kill(),
        () => wire.stop(),
      );
      return { service, wire };
    }),
  );
  // One makes the keys of the data folder, which the others then find.
  for (const { service } of processes) await service.start();
  surroundings = { processes, postgres, receiver, mail, random, lastsMsMax: LASTS_MS_MAX };
  database = await openDatabase({ url, schema: SCHEMA, connectionsMax: 2 });
  closing.push(() => database.close());
}, 180_000);
afterAll(async () => {
  for (const close of closing.reverse()) await close();
}, 60_000);

async function call(method: string, path: string, body?: object) {
  const response = await fetch(`${surroundings.processes[0]?.service.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, body: await response.json() };
}

/** Waits for what comes by itself; what is still not so is told by what follows. */
async function eventually(isSo: () => Promise<boolean> | boolean, timeout = END_MS_MAX): Promise<void> {
  const end = performance.now() + timeout;
  while (performance.now() < end && !(await isSo())) await sleep(250);
}

test(
  `[P-8.13] after a storm every promise is kept exactly once, every webhook and mail arrives and the books are clean (seed ${SEED})`,
  async () => {
    expect((await call('POST', '/v1/webhook_endpoints', { url: surroundings.receiver.url })).status).toBe(
      201,
    );
    const urls = surroundings.processes.map(({ service }) => service.url);
    const clients = startCarefulClients({
      ...{ urls, key: KEY, random: randomFrom(SEED + 1), clients: 4, pauseMs: 50 },
    });
    const names = possibleIn(surroundings);
    const done = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const order = names.map((name) => ({ name, at: random() })).sort((a, b) => a.at - b.at);
      for (const { name } of order) {
        await DISTURBANCES[name](surroundings);
        done.set(name, (done.get(name) ?? 0) + 1);
        await sleep(CALM_MS);
      }
    }
    await clients.stop();
    await expectPromisesKept(clients);
    if (IS_LONG)
      console.log(
        [
          `${clients.promised.size} payments promised and kept, ${surroundings.receiver.events.size} webhooks, ` +
            `${clients.signedUp.size} mails; seed ${SEED}`,
          ...[...done].map(([name, times]) => `${String(times).padStart(4)} ${name}`),
          ...(surroundings.postgres?.disk
            ? []
            : ['   0 the disk of the database is full: no small disk can be made here']),
        ].join('\n'),
      );
  },
  120_000 + ROUNDS * 12 * (LASTS_MS_MAX + CALM_MS + 10_000) + 4 * END_MS_MAX,
);

async function expectPromisesKept({ promised, signedUp, wrong }: CarefulClients): Promise<void> {
  expect(wrong).toEqual([]);
  expect(promised.size).toBeGreaterThan(ROUNDS * 5);
  const open = async () =>
    (
      await database.query(
        `select id, status, rail_selected from payments where status in ('pending', 'processing')`,
      )
    ).rows;
  await eventually(async () => (await open()).length === 0);
  const left = await open();
  // Why they wait stands in the jobs that are to move them.
  const jobs = await database.query(
    'select name, key, attempts, ready_at - clock_timestamp() as due_in, last_error from jobs where attempts > 0',
  );
  expect(left, JSON.stringify(jobs.rows)).toEqual([]);
  const { rows: stored } = await database.query<{ key: string; id: string }>(
    `select k.key, e.subject_id as id from idempotency_keys k join events e on e.tenant_id = k.tenant_id and e.id = k.event_id`,
  );
  const byKey = new Map(stored.map(({ key, id }) => [key, id]));
  for (const [key, id] of promised) expect(byKey.get(key)).toBe(id);
  const { rows: payments } = await database.query<{ document: string }>('select document from payments');
  expect(payments).toHaveLength(byKey.size);
  for (const { document } of payments) {
    const times = (JSON.parse(document) as { timeline: { timestamp: string }[] }).timeline.map(
      ({ timestamp }) => timestamp,
    );
    // Whatever the clocks did.
    expect(times).toEqual(times.toSorted());
  }

  const { receiver, mail, processes } = surroundings;
  const { rows: events } = await database.query<{ id: string }>('select id from events');
  const missing = () => events.filter(({ id }) => !receiver.events.has(id)).length;
  const unsent = () => [...signedUp].filter((email) => !mail.addressees.has(email));
  await eventually(() => missing() === 0, FIRST_TRIES_MS_MAX);
  // What was refused twice waits for minutes: their clocks let them pass.
  for (let hours = 1; missing() > 0 && hours <= 24; hours += 1) {
    for (const { service } of processes) service.setClock(hours * HOUR_MS);
    await eventually(() => missing() === 0, AN_HOUR_PASSED_MS_MAX);
  }
  await eventually(() => missing() === 0);
  expect(missing()).toBe(0);
  await eventually(() => unsent().length === 0);
  expect(unsent()).toEqual([]);
  for (const { service } of processes) service.setClock(0);
  expect((await call('GET', '/v1/ledger/check')).body).toMatchObject({ ok: true });
}
