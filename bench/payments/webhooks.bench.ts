import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Database, openDatabase } from '@libs/db';
import { createIdFactory } from '@libs/seal';
import { createDeliveryQueue, type NewDelivery } from '@libs/webhooks';
import { startDatabase, startService } from '../environment.ts';
import { type Benchmark, median, middleTurn, type Turn } from '../result.ts';
import type { Posts } from './post-process.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { Pool } from './undici.ts';

const ROUNDS = 3;
const DELIVERIES = 6_000;
/** Until neither side compiles any more: the bare POSTs of a client that was just started are half as many. */
const WARMUP_DELIVERIES = 20_000;
const WARMUP_POSTS = 50_000;
/** As many as a dispatcher has under way to one endpoint. */
const CONNECTIONS = 64;
const PAYMENTS = 50;
const STATUSES = ['payment.pending', 'payment.processing', 'payment.completed'];
const WAIT_MS_MAX = 30_000;
const LOOK_EVERY_MS = 10;

const authorization = 'Bearer sk_test_sandbox';
/** About as long as a payment with all that happened to it. */
const data = JSON.stringify({
  id: 'pay_01m7enggex0w7ppxznkdd76s8g',
  object: 'payment',
  rest: 'x'.repeat(1_300),
});

interface Bench {
  service: { url: string };
  database: Database;
  receiver: Receiver;
  poster: ChildProcess;
  endpoint: { tenantId: string; endpointId: string };
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`${what} took longer than ${WAIT_MS_MAX} ms`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** Ids as the product makes them: random ones would fall all over the indexes, and into no part of the tables. */
const newId = createIdFactory({ now: () => new Date(), randomBytes });

/** By the index, which forgets what is gone, and once all have arrived: reading past thousands of dead rows took a fifth of the database's time. */
async function someWait(database: Database, { tenantId, endpointId }: Bench['endpoint']): Promise<boolean> {
  const { rows } = await database.query(
    `select 1 as one from payments_webhooks.queue where tenant_id = $1 and endpoint_id = $2
     order by tenant_id, endpoint_id, due_at, id limit 1`,
    [tenantId, endpointId],
  );
  return rows.length > 0;
}

/** Deliveries per second from the commit that adds them to the moment at which all are written down as delivered. */
async function deliver({ database, receiver, endpoint }: Bench, count: number): Promise<number> {
  const queue = createDeliveryQueue({
    schema: 'payments_webhooks',
    now: () => new Date(),
    newId,
    statusWhenAbandoned: 'abandoned',
  });
  const eventIds = Array.from({ length: count }, () => newId('evt'));
  const rows = eventIds.map(
    (eventId): NewDelivery => ({ ...endpoint, eventId, eventType: 'payment.completed' }),
  );
  await database.transaction(async (tx) => {
    await tx.query(
      `insert into events (tenant_id, id, type, subject_id, data, occurred_at, created_at)
       select $1, id, 'payment.completed', 'pay_bench', $3, now(), now() from unnest($2::text[]) as id`,
      [endpoint.tenantId, eventIds, data],
    );
    await queue.enqueue(tx, rows);
  });
  const startedAt = performance.now();
  const arrivals = await receiver.takeArrivals(count);
  await until('delivering', async () => !(await someWait(database, endpoint)));
  const elapsedMs = performance.now() - startedAt;
  const arrived = new Set([...arrivals, ...(await receiver.takeArrivals())].map(({ id }) => id));
  if (eventIds.some((id) => !arrived.has(id))) throw new Error('a delivery counts that did not arrive');
  return (count / elapsedMs) * 1_000;
}

async function post({ receiver, poster }: Bench, count: number): Promise<number> {
  const { origin, pathname } = new URL(receiver.url);
  const posts: Posts = {
    origin,
    path: pathname,
    headers: { 'content-type': 'application/json' },
    body: `{"id":"evt_${randomUUID()}","type":"payment.completed","data":${data}}`,
    count,
    connections: CONNECTIONS,
  };
  poster.send(posts);
  const [perSecond] = (await once(poster, 'message')) as [number];
  return perSecond;
}

/** How long after its commit each status of payments arrived, one payment at a time; milliseconds. */
async function measureDelays({ service, database, receiver }: Bench, payments: number): Promise<number[]> {
  const arrivedAt = new Map<string, number>();
  for (let index = 0; index < payments; index += 1) {
    const response = await fetch(`${service.url}/v1/payments`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      body: JSON.stringify({
        amount: 2_500,
        currency: 'USD',
        source: { payment_method_id: 'pm_alice' },
        destination: { payment_method_id: 'pm_bob' },
        rail: 'rtp',
      }),
    });
    if (response.status !== 202) throw new Error(`a payment was answered ${response.status}`);
    const wanted = STATUSES.length * (index + 1);
    await until('a webhook', async () => {
      for (const { id, at } of await receiver.takeArrivals()) arrivedAt.set(id, at);
      return arrivedAt.size >= wanted;
    });
  }
  const { rows } = await database.query<{ id: string; committed: number }>(
    `select id, extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as committed from events
     where id = any($1)`,
    [[...arrivedAt.keys()]],
  );
  return rows.map(({ id, committed }) => (arrivedAt.get(id) ?? Number.NaN) - committed);
}

/** One notification through Postgres, and one POST; milliseconds, the middle of as many as there are payments. */
async function measurePeer({ database, receiver }: Bench, times: number): Promise<number> {
  let heard = () => {};
  const subscription = await database.listen('bench_heard', () => heard());
  const { origin, pathname: path } = new URL(receiver.url);
  const pool = new Pool(origin, { connections: 1 });
  const samples: number[] = [];
  for (let index = 0; index < times; index += 1) {
    const startedAt = performance.now();
    const hearing = new Promise<void>((resolve) => {
      heard = resolve;
    });
    await database.query({ name: 'bench.notify', text: `select pg_notify('bench_heard', '')` });
    await hearing;
    const response = await pool.request({ path, method: 'POST', body: data });
    await response.body.dump();
    samples.push(performance.now() - startedAt);
    await sleep(LOOK_EVERY_MS);
  }
  await subscription.stop();
  await pool.close();
  return median(samples);
}

async function open(opened: AsyncDisposableStack): Promise<Bench> {
  const receiver = await startReceiver();
  opened.defer(() => receiver.stop());
  const server = await startDatabase({ track_commit_timestamp: 'on' });
  opened.defer(() => server.stop());
  const service = await startService('payments', {
    DATABASE_URL: server.url,
    PAYMENTS_EGRESS_ALLOW: receiver.host,
    PAYMENTS_SANDBOX_RTP_MS: '20',
    PAYMENTS_LOG_LEVEL: 'error',
  });
  opened.defer(() => service.stop());
  const database = await openDatabase({ url: server.url, schema: 'payments', connectionsMax: 2 });
  opened.defer(() => database.close());
  const poster = fork(fileURLToPath(new URL('./post-process.ts', import.meta.url)), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  opened.defer(() => void poster.disconnect());
  const response = await fetch(`${service.url}/v1/webhook_endpoints`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify({ url: receiver.url, events: STATUSES }),
  });
  if (response.status !== 201) throw new Error(`the endpoint was answered ${response.status}`);
  const { rows } = await database.query<{ tenant_id: string; id: string }>(
    'select tenant_id, id from webhook_endpoints',
  );
  const [row] = rows;
  if (!row) throw new Error('the endpoint is not stored');
  return { service, database, receiver, poster, endpoint: { tenantId: row.tenant_id, endpointId: row.id } };
}

export const benchmark: Benchmark = {
  name: 'payments webhooks',
  async run() {
    const opened = new AsyncDisposableStack();
    try {
      const bench = await open(opened);
      const turns: Turn[] = [];
      await deliver(bench, WARMUP_DELIVERIES);
      await post(bench, WARMUP_POSTS);
      for (let round = 0; round < ROUNDS; round += 1) {
        turns.push({ ours: await deliver(bench, DELIVERIES), other: await post(bench, DELIVERIES) });
      }
      await measureDelays(bench, PAYMENTS / 5);
      const delays = await measureDelays(bench, PAYMENTS);
      const peer = await measurePeer(bench, delays.length);
      return [
        {
          id: 'P5',
          what: 'webhooks delivered, against bare POSTs',
          ...middleTurn(turns),
          unit: '/s',
          bar: { kind: 'at least', value: 0.5 },
        },
        {
          id: 'P8',
          what: 'from commit to webhook, against a NOTIFY and a POST',
          ours: median(delays),
          other: peer,
          unit: 'ms',
          bar: { kind: 'at most', value: 2 },
        },
      ];
    } finally {
      await opened.disposeAsync();
    }
  },
};
