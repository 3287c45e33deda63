// Workers are killed between a file and the ledger, one statement later each time. Nothing happens twice, nothing is lost.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays, fromNewYork } from '../../services/payments/src/clock/new-york.ts';
import { type Harness, startHarness } from '../contract/payments/harness.ts';
import { disagreements } from '../month/books.ts';
import { expectedHistory, lossOf, type Order } from '../month/orders.ts';

/** `npm run faults` kills at every statement, over and over; the short form at every seventh. */
const KILLS = Number(process.env.FAULTS_KILLS ?? 0) * 8 || 8;
const STRIDE = process.env.FAULTS_KILLS ? 1 : 7;
const STATEMENTS_PER_STEP = 60;
const FROM = '2034-03-06';
const DAYS = 16;
const REST_MS_MAX = 60_000;
/** A worker starts for each kill, on a machine that may have much else to do. */
const TIMEOUT_MS = 180_000 + KILLS * 20_000;

const worker = fileURLToPath(new URL('./ach-worker.ts', import.meta.url));
const sides = [
  ['pm_alice', 'pm_bob'],
  ['pm_test_ach_return_r01', 'pm_bob'],
  ['pm_test_ach_return_once_r09', 'pm_bob'],
  ['pm_test_ach_late_return_r10', 'pm_bob'],
  ['pm_alice', 'pm_test_ach_return_r03'],
  ['pm_alice', 'pm_test_ach_late_return_r02'],
  ['pm_test_ach_noc_c01', 'pm_bob'],
  ['balance', 'pm_bob'],
  ['pm_alice', 'balance'],
] as const;

let harness: Harness;
let key: string;

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_ROLE: 'api', PAYMENTS_ACH_REPRESENT: '2' } });
  ({ test: key } = await harness.organisation());
});
afterAll(() => harness.stop());

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const answer = await harness.call('POST', path, { key, body, headers });
  if (answer.status >= 300) throw new Error(`${path} answered ${answer.status} ${answer.text}`);
  return answer.body;
}

/** Whether it died on the way; otherwise nothing was left to do. */
async function runWorker(statement: number): Promise<boolean> {
  const child = spawn(process.execPath, [worker, harness.testDatabase.url, String(statement)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return signal === 'SIGKILL';
}

test(
  `[P-5.14] after ${KILLS} kills between file and ledger, every payment ends as it must and the books agree`,
  async () => {
    const clock = (date: string, time: string) =>
      post('/v1/sandbox/clock', { now: fromNewYork(date, time).toISOString() });
    await clock(FROM, '09:00');
    const { id: balance } = await post('/v1/payment_methods', { type: 'balance' });
    await post(`/v1/sandbox/payment_methods/${balance}/fund`, { amount: 1_000_00 });
    const made: (Order & { id: string })[] = [];
    for (const [index, [source, destination]] of sides.entries()) {
      const order: Order = {
        ...{ rail: 'ach', prefer: 'cost', source, destination, description: null, isCanceled: false },
        amount: 1_00 + index,
      };
      const method = (side: string) => ({ payment_method_id: side === 'balance' ? balance : side });
      const { id } = await post(
        '/v1/payments',
        {
          amount: order.amount,
          currency: 'USD',
          source: method(source),
          destination: method(destination),
          rail: 'ach',
        },
        { 'idempotency-key': `kill ${index}` },
      );
      made.push({ ...order, id });
    }
    let died = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const day = 1 + Math.floor((kill * (DAYS - 2)) / KILLS);
      await clock(addDays(FROM, day), '12:00');
      if (await runWorker(1 + ((kill * STRIDE) % STATEMENTS_PER_STEP))) died += 1;
    }
    // The others found nothing left to do before they came to the statement at which they should die.
    expect(died).toBeGreaterThanOrEqual(KILLS / 4);
    await clock(addDays(FROM, DAYS + 20), '12:00');
    await harness.another({ env: { PAYMENTS_ROLE: 'worker', PAYMENTS_ACH_REPRESENT: '2' } });
    await untilAllEnded();

    const histories = await Promise.all(
      made.map(async ({ id }) => {
        const { body } = await harness.call('GET', `/v1/payments/${id}`, { key });
        return body.timeline.map(({ status }: { status: string }) => status).join(' > ');
      }),
    );
    expect(histories).toEqual(made.map(expectedHistory));
    const losses = new Map(
      made.flatMap((one) => {
        const kind = lossOf(one);
        return kind ? [[one.id, { kind, amount: one.amount }] as const] : [];
      }),
    );
    const days = Array.from({ length: DAYS + 21 }, (_, day) => addDays(FROM, day));
    expect(await disagreements(harness.database, { days, losses })).toEqual([]);
    expect((await harness.call('GET', '/v1/ledger/check', { key })).body.ok).toBe(true);
    expect((await harness.database.query('select reason from rail_quarantine')).rows).toEqual([]);
  },
  TIMEOUT_MS,
);

/** A killed worker's jobs come back after their lease. */
async function untilAllEnded(): Promise<void> {
  const end = Date.now() + REST_MS_MAX;
  for (;;) {
    const { rows } = await harness.database.query<{ open: number }>(
      `select ((select count(*) from ach_entries where state in ('queued', 'sent'))
         + (select count(*) from sandbox_ach_answers where outbox_name is null)
         + (select count(*) from sandbox_ach_outbox where fetched_at is null))::int as open`,
    );
    if (rows[0]?.open === 0 || Date.now() > end) return;
    await sleep(100);
  }
}
