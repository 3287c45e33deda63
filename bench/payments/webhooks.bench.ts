import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '@libs/db';
import { createEgressPolicy, createGuardedAgent } from '@libs/webhooks';
import { Agent, request } from 'undici';
import { createShop, SCHEMA, TABLES } from '../../libs/webhooks/test/service.ts';
import { startDatabase } from '../environment.ts';
import { type Benchmark, median } from '../result.ts';

const DELIVERIES = 8_000;
const EMIT_BATCH = 500;
const CONCURRENCY = 64;
const ROUNDS = 3;
const LATENCY_SAMPLES = 150;

interface Receiver {
  url: string;
  process: ChildProcess;
  /** Resolves when as many requests have come since the call. */
  expect(count: number): Promise<{ done: Promise<void> }>;
}

async function startReceiver(): Promise<Receiver> {
  const child = fork(fileURLToPath(new URL('./receiver-process.ts', import.meta.url)));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    url: `http://127.0.0.1:${port}/hook`,
    process: child,
    async expect(count) {
      child.send({ wait: count });
      await once(child, 'message');
      return { done: once(child, 'message').then(() => undefined) };
    },
  };
}

async function barePosts(url: string, count: number): Promise<number> {
  const dispatcher = new Agent({ connections: CONCURRENCY });
  const body = JSON.stringify({ id: 'evt_01m7enggrx8jkywebrsr6b45pe', type: 'order.paid' });
  const headers = { 'content-type': 'application/json' };
  const begin = performance.now();
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const answer = await request(url, { method: 'POST', body, headers, dispatcher });
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  const perSecond = (count / (performance.now() - begin)) * 1_000;
  await dispatcher.close();
  return perSecond;
}

export const benchmark: Benchmark = {
  name: 'payments webhooks',
  async run() {
    const server = await startDatabase();
    const database = await openDatabase({ url: server.url, schema: 'public', connectionsMax: 16 });
    const receiver = await startReceiver();
    await database.query(TABLES);
    const agent = createGuardedAgent(createEgressPolicy({ allow: [], development: true }));
    const shop = createShop(database, agent);
    const dispatcher = shop.dispatcher();
    try {
      const ref = await shop.addEndpoint(receiver.url);
      const delivered: number[] = [];
      const bare: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        bare.push(await barePosts(receiver.url, DELIVERIES));
        for (let n = 0; n < DELIVERIES; n += EMIT_BATCH) await shop.emit(ref, EMIT_BATCH);
        const { done } = await receiver.expect(DELIVERIES);
        const begin = performance.now();
        await dispatcher.start();
        await done;
        await waitUntilRecorded();
        delivered.push((DELIVERIES / (performance.now() - begin)) * 1_000);
        await dispatcher.stop();
      }
      await dispatcher.start();
      const latency = await measureLatency();
      return [
        {
          id: 'P5',
          what: 'webhooks signed, delivered and recorded, against bare POSTs',
          ours: median(delivered),
          other: median(bare),
          unit: '/s',
          bar: { kind: 'at least', value: 0.4 },
        },
        {
          id: 'P8',
          what: 'from commit to arrival, against notify and POST',
          ours: latency.ours,
          other: latency.other,
          unit: 'ms',
          bar: { kind: 'at most', value: 5 },
        },
      ];

      async function waitUntilRecorded(): Promise<void> {
        for (;;) {
          const { rows } = await database.query<{ n: number }>(
            `select count(*)::int as n from ${SCHEMA}.queue`,
          );
          if (rows[0]?.n === 0) return;
          await new Promise((wait) => setTimeout(wait, 5));
        }
      }

      async function measureLatency(): Promise<{ ours: number; other: number }> {
        const ours: number[] = [];
        const other: number[] = [];
        let heard = (): void => {};
        const subscription = await database.listen('bench_echo', () => heard());
        for (let sample = 0; sample < LATENCY_SAMPLES; sample += 1) {
          const { done } = await receiver.expect(1);
          await shop.emit(ref, 1);
          const committed = performance.now();
          await done;
          ours.push(performance.now() - committed);
          const begin = performance.now();
          const echo = new Promise<void>((resolve) => {
            heard = resolve;
          });
          await database.query(`select pg_notify('bench_echo', '')`);
          await echo;
          const answer = await request(receiver.url, { method: 'POST', body: '{}' });
          await answer.body.dump();
          other.push(performance.now() - begin);
        }
        await subscription.stop();
        return { ours: median(ours), other: median(other) };
      }
    } finally {
      await dispatcher.stop();
      await agent.close();
      receiver.process.disconnect();
      await database.close();
      await server.stop();
    }
  },
};
