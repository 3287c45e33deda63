import { openDatabase } from '@libs/db';
import { startDatabase, startService } from '../environment.ts';
import { sendLoad } from '../load.ts';
import { type Benchmark, median } from '../result.ts';
import { acceptLoad, apiOnly } from './accept.bench.ts';

const SECONDS = 5;
const ROUNDS = 3;
const FINISH_TIMEOUT_MS = 60_000;

const rtpBody = JSON.stringify({
  amount: 2_500,
  currency: 'USD',
  source: { payment_method_id: 'pm_alice' },
  destination: { payment_method_id: 'pm_bob' },
  rail: 'rtp',
});

/** Payments from the first request to `completed`, with the network, the workers and the API on this machine. */
export const benchmark: Benchmark = {
  name: 'payments complete',
  async run() {
    const server = await startDatabase();
    const database = await openDatabase({ url: server.url, schema: 'payments', connectionsMax: 2 });
    const settings = { ...apiOnly, DATABASE_URL: server.url };
    const accepted: number[] = [];
    const completed: number[] = [];
    try {
      const api = await startService('payments', settings);
      for (let round = 0; round < ROUNDS; round += 1) {
        accepted.push((await sendLoad(acceptLoad(api.url, { seconds: SECONDS, body: rtpBody }))).perSecond);
      }
      await api.stop();
      // What was only accepted is not part of the second half.
      await database.query(`truncate jobs`);
      const whole = await startService('payments', {
        ...settings,
        PAYMENTS_ROLE: 'all',
        PAYMENTS_SANDBOX_RTP_MS: '0',
      });
      for (let round = 0; round < ROUNDS; round += 1) {
        const before = await countCompleted();
        const begin = performance.now();
        await sendLoad(
          acceptLoad(whole.url, { seconds: SECONDS, warmupSeconds: 0, body: rtpBody, connections: 32 }),
        );
        await waitUntilIdle();
        completed.push(((await countCompleted()) - before) / ((performance.now() - begin) / 1_000));
      }
      await whole.stop();
      const [ours, other] = [median(completed), median(accepted)];
      return [
        {
          id: 'P4',
          what: 'payments completed over RTP, against accepting alone',
          ours,
          other,
          unit: '/s',
          bar: { kind: 'at least', value: 0.3 },
        },
      ];
    } finally {
      await database.close();
      await server.stop();
    }

    async function countCompleted(): Promise<number> {
      const { rows } = await database.query<{ n: number }>(
        `select count(*)::int as n from payments where status = 'completed'`,
      );
      return rows[0]?.n ?? 0;
    }

    async function waitUntilIdle(): Promise<void> {
      const end = performance.now() + FINISH_TIMEOUT_MS;
      for (;;) {
        const { rows } = await database.query<{ n: number }>(
          `select count(*)::int as n from jobs where name in ('payments.submit', 'rtp.send', 'rtp.read', 'sandbox.rtp.answer')`,
        );
        if (rows[0]?.n === 0) return;
        if (performance.now() > end) throw new Error('payments are stuck');
        await new Promise((wait) => setTimeout(wait, 20));
      }
    }
  },
};
