// API and worker processes over one database come, go and die under load: nothing is lost or done twice, and no request
// fails but those on connections that a kill cut off.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { freePort } from '@libs/runtime/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paymentsMigrations } from '../../services/payments/src/migrations.ts';
import { randomFrom } from '../month/orders.ts';
import { startCarefulClients } from './careful-clients.ts';
import { createServiceProcess, type ServiceProcess } from './service-process.ts';
import { startReceiver, type WebhookReceiver } from './vanishing-servers.ts';

/** `npm run faults`: so many turns of all that may happen; the short form is one, with as few processes as it takes. */
const ROUNDS = Number(process.env.FAULTS_ROUNDS ?? 0);
const SEED = Number(process.env.FAULTS_SEED ?? 20_261_116);
const CALM_MS = ROUNDS > 0 ? 1_500 : 300;
const PROCESSES_MAX = 4;
const KEY = 'sk_test_sandbox';

type Role = 'api' | 'worker' | 'all';
interface Running {
  role: Role;
  service: ServiceProcess;
}

// Of the disturbances alone: clients take as many numbers as time allows, and no run would repeat another.
const random = randomFrom(SEED);
let testDatabase: TestDatabase;
let receiver: WebhookReceiver;
let dataDir: string;
const running: Running[] = [];
/** What a balancer in front of them sends requests to. */
const urls: string[] = [];
const killed = new Set<string>();

beforeAll(async () => {
  testDatabase = await createTestDatabase(paymentsMigrations());
  receiver = await startReceiver(await freePort());
  dataDir = await mkdtemp(join(tmpdir(), 'processes-'));
});
afterAll(async () => {
  await Promise.all(running.map(({ service }) => service.kill()));
  await receiver.vanish();
  await testDatabase.drop();
  await rm(dataDir, { recursive: true, force: true });
});

async function add(role: Role): Promise<void> {
  const service = await createServiceProcess({
    ...{ DATABASE_URL: testDatabase.url, DATA_DIR: dataDir, PAYMENTS_ROLE: role },
    ...{
      PAYMENTS_ENCRYPTION_KEY: Buffer.alloc(32, 8).toString('base64'),
      PAYMENTS_ADMIN_TOKEN: 'of_the_tests',
    },
    ...{ PAYMENTS_RATE_TEST: '0', PAYMENTS_RATE_ADDRESS: '0', PAYMENTS_LOG_LEVEL: 'fatal' },
    // ACH that was held up catches up in strides of an eighth of its time, each a few transactions: with short ones a busy
    // machine never would.
    ...{ PAYMENTS_SANDBOX_RTP_MS: '20', PAYMENTS_SANDBOX_ACH_MS: ROUNDS > 0 ? '2000' : '200' },
    NODE_ENV: 'development',
  });
  running.push({ role, service });
  await service.start();
  if (role !== 'worker') urls.push(service.url);
}

function takeOut(role: Role): Running {
  const at = running.findIndex((one) => one.role === role);
  const [leaving] = running.splice(at, 1);
  if (at < 0 || !leaving) throw new Error(`there is no ${role}`);
  return leaving;
}

const forget = (url: string) => {
  const at = urls.indexOf(url);
  if (at >= 0) urls.splice(at, 1);
};

/** As an operator does it: no new requests, then the signal. */
async function drain(role: Role): Promise<void> {
  const { service } = takeOut(role);
  forget(service.url);
  await service.drain();
}

/** Nobody knows before: requests are sent to it until they fail. */
async function kill(role: Role): Promise<void> {
  const { service } = takeOut(role);
  killed.add(service.url);
  await service.kill();
  await sleep(100);
  forget(service.url);
}

const otherThan = (role: Role): Role => (role === 'api' ? 'worker' : 'api');

/** Everything that may happen, in an order of the seed; there is always one that accepts and one that works. */
async function oneRound(): Promise<void> {
  const acts = [add, drain, kill].flatMap((act) =>
    (['api', 'worker'] as const).map((role) => ({ act, role })),
  );
  for (const { act, role } of acts.map((one) => ({ ...one, at: random() })).sort((a, b) => a.at - b.at)) {
    const isOnly = running.filter((one) => one.role === role).length < 2;
    if (act !== add && isOnly) await add(role);
    // The last of its role stays until the next one is there: whoever asks meanwhile would find nobody.
    if (act === add && running.length >= PROCESSES_MAX) await drain(isOnly ? otherThan(role) : role);
    await act(role);
    await sleep(CALM_MS);
  }
}

const counted = async (sql: string) =>
  (await testDatabase.database.query<{ n: number }>(`select count(*)::int as n ${sql}`)).rows[0]?.n;

test(
  `[P-8.13] processes come, go and die under load, and every promise is kept once (seed ${SEED})`,
  async () => {
    await Promise.all([add('api'), add('worker')]);
    const made = await fetch(`${urls[0]}/v1/webhook_endpoints`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: receiver.url, events: ['payment.completed'] }),
    });
    expect(made.status).toBe(201);
    const clients = startCarefulClients({
      ...{
        urls,
        key: KEY,
        random: randomFrom(SEED + 1),
        clients: ROUNDS > 0 ? 4 : 2,
        pauseMs: ROUNDS > 0 ? 10 : 40,
        signUps: 0,
        ach: ROUNDS > 0 ? 0.3 : 0,
      },
    });
    if (ROUNDS === 0) {
      await add('all');
      await drain('worker');
      await sleep(CALM_MS);
      await kill('api');
      await sleep(CALM_MS);
    }
    for (let round = 0; round < ROUNDS; round += 1) await oneRound();
    await clients.stop();

    expect(clients.wrong).toEqual([]);
    expect(clients.repeated.filter(({ url }) => !killed.has(url))).toEqual([]);
    expect(clients.promised.size).toBeGreaterThan(20);
    // A worker that was killed had jobs in hand: they come back when its leases have run out.
    await expect
      .poll(() => counted(`from payments where status in ('pending', 'processing')`), {
        ...{ timeout: ROUNDS > 0 ? 600_000 : 120_000, interval: 250 },
      })
      .toBe(0);
    const { rows } = await testDatabase.database.query<{ key: string; id: string }>(
      `select k.key, e.subject_id as id from idempotency_keys k join events e on e.tenant_id = k.tenant_id and e.id = k.event_id`,
    );
    expect(new Map(rows.map(({ key, id }) => [key, id]))).toEqual(clients.promised);
    expect(await counted('from payments')).toBe(clients.promised.size);
    // No step was taken twice: neither in the books of the service nor in those of the network.
    expect(
      await counted('from (select 1 from events group by subject_id, type having count(*) > 1) as twice'),
    ).toBe(0);
    expect(await counted(`from payments where rail_selected = 'rtp'`)).toBe(
      await counted('from sandbox_rtp_transfers'),
    );
    const completed = await testDatabase.database.query<{ id: string }>(
      `select id from events where type = 'payment.completed'`,
    );
    const missing = () => completed.rows.filter(({ id }) => !receiver.events.has(id)).length;
    await expect.poll(missing, { interval: 250 }).toBe(0);
    const books = await fetch(`${urls[0]}/v1/ledger/check`, { headers: { authorization: `Bearer ${KEY}` } });
    expect(await books.json()).toMatchObject({ ok: true });
    if (ROUNDS > 0)
      console.log(
        `${clients.promised.size} payments kept over ${ROUNDS} rounds of processes that came, went and died; ` +
          `${clients.repeated.length} requests on cut connections were made again; seed ${SEED}`,
      );
  },
  240_000 + ROUNDS * 240_000,
);
