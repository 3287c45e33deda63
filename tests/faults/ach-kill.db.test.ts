// Workers are killed at every step between a file and the ledger, over and over. Nothing happens twice, nothing is lost.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays, fromNewYork } from '../../services/payments/src/clock/new-york.ts';
import { type Harness, startHarness } from '../contract/payments/harness.ts';
import { disagreements } from '../month/books.ts';
import { expectedHistory, lossOf, type Order, randomFrom } from '../month/orders.ts';
import { startDatabaseWire } from './database-wire.ts';
import { createKillPlan, isLookingForWork, isProgress, type KillPlan } from './kill-plan.ts';

/** `npm run faults` kills twenty times at each step; the short form once at some of them. */
const KILLS_PER_STEP = Number(process.env.FAULTS_KILLS ?? 0);
const SEED = Number(process.env.FAULTS_SEED ?? 20_340_306);
const PLAN = KILLS_PER_STEP
  ? { perStep: KILLS_PER_STEP, all: 10_000, chance: 0.5, heldMax: 12 }
  : { perStep: 1, all: 12, chance: 0.3, heldMax: 6 };
/** Each has a clock and a scope of its own, so that one process stands at many steps at once. */
const ORGANISATIONS = KILLS_PER_STEP ? 12 : 2;
const WORKERS = KILLS_PER_STEP ? 8 : 3;
const FROM = '2034-03-06';
/** Debits that are presented three times, late returns and refunds need so long to be seen. */
const DAYS_MIN = KILLS_PER_STEP ? 20 : 8;
const DAYS_MAX = 120;
const DAYS_TO_END = 21;
const POLL_MS = 50;
/** Nothing passes for so long: who is not held waits for those who are. */
const QUIET_MS = 400;
const REST_MS_MAX = 120_000;
const TIMEOUT_MS = KILLS_PER_STEP ? 3 * 3_600_000 : 420_000;

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

interface Organisation {
  key: string;
  balance: string;
}

let harness: Harness;
const processes = new Set<ChildProcess>();

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_ROLE: 'api', PAYMENTS_ACH_REPRESENT: '2' } });
});
afterAll(async () => {
  for (const process of processes) process.kill('SIGKILL');
  await harness.stop();
});

async function post(key: string, path: string, body: unknown, headers: Record<string, string> = {}) {
  const answer = await harness.call('POST', path, { key, body, headers });
  if (answer.status >= 300) throw new Error(`${path} answered ${answer.status} ${answer.text}`);
  return answer.body;
}

const setClock = (key: string, date: string) =>
  post(key, '/v1/sandbox/clock', { now: fromNewYork(date, '12:00').toISOString() });

async function openOrganisation(): Promise<Organisation> {
  const { test: key } = await harness.organisation();
  await setClock(key, FROM);
  const { id: balance } = await post(key, '/v1/payment_methods', { type: 'balance' });
  await post(key, `/v1/sandbox/payment_methods/${balance}/fund`, { amount: 1_000_000_00 });
  return { key, balance };
}

type Made = Order & { id: string; key: string };

/** One payment of every kind. */
function payAll({ key, balance }: Organisation, day: number): Promise<Made[]> {
  const method = (side: string) => ({ payment_method_id: side === 'balance' ? balance : side });
  return Promise.all(
    sides.map(async ([source, destination], index) => {
      const amount = 1_00 + day * sides.length + index;
      const body = {
        ...{ amount, currency: 'USD', rail: 'ach' },
        ...{ source: method(source), destination: method(destination) },
      };
      const { id } = await post(key, '/v1/payments', body, { 'idempotency-key': `kill ${day} ${index}` });
      const order: Order = {
        ...{ rail: 'ach', prefer: 'cost', source, destination, description: null, isCanceled: false },
        amount,
      };
      return { ...order, id, key };
    }),
  );
}

interface Life {
  /** Kills the process where all that can be held is held. Answers whether it is dead. */
  isOver(): boolean;
  end(): Promise<void>;
}

/** A process whose jobs are held where the plan wants it, until it dies of that. */
async function live(plan: KillPlan): Promise<Life> {
  let isKilled = false;
  let isGone = false;
  let isWorking = false;
  let lastPassedAt = performance.now();
  const wire = await startDatabaseWire(harness.testDatabase.url, {
    isStopped(step) {
      isWorking ||= isLookingForWork(step);
      if (isKilled || (isWorking && plan.isHeldAt(step))) return true;
      if (isProgress(step)) lastPassedAt = performance.now();
      return false;
    },
  });
  const child = spawn(process.execPath, [worker, wire.url, String(WORKERS)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  processes.add(child);
  const exit = once(child, 'exit').then(() => {
    isGone = true;
    processes.delete(child);
  });
  const kill = () => {
    isKilled = true;
    child.kill('SIGKILL');
  };
  return {
    isOver() {
      const isQuiet = performance.now() - lastPassedAt > QUIET_MS;
      if (plan.held >= PLAN.heldMax || (plan.held > 0 && isQuiet)) kill();
      return isGone;
    },
    async end() {
      kill();
      await exit;
      await wire.stop();
      plan.died();
      await endLeases();
    },
  };
}

/** As if the time of a lease had passed, after which what a dead worker held is anybody's. */
async function endLeases(): Promise<void> {
  await harness.database.query(
    'update jobs set ready_at = clock_timestamp() where attempts > 0 and failed_at is null',
  );
}

async function isResting(): Promise<boolean> {
  const { rows } = await harness.database.query<{ busy: boolean }>(
    `select exists (select from jobs where failed_at is null and (attempts > 0 or ready_at <= clock_timestamp())) as busy`,
  );
  return rows[0]?.busy === false;
}

/** Lets processes live and die until what the clocks made due has happened. Answers the one that lives on. */
async function workUntilRest(plan: KillPlan, living: Life | null): Promise<Life> {
  let life = living ?? (await live(plan));
  let end = performance.now() + REST_MS_MAX;
  while (!(await isResting())) {
    if (life.isOver()) {
      await life.end();
      life = await live(plan);
      end = performance.now() + REST_MS_MAX;
    } else if (performance.now() > end) {
      await life.end();
      throw new Error('workers that nobody kills do not come to rest');
    }
    await sleep(POLL_MS);
  }
  return life;
}

test(
  `[P-5.14] after ${KILLS_PER_STEP ? `${KILLS_PER_STEP} kills at each step` : 'kills'} between file and ledger, every payment ends as it must and the books agree`,
  async () => {
    const organisations = await Promise.all(Array.from({ length: ORGANISATIONS }, openOrganisation));
    const plan = createKillPlan(PLAN, randomFrom(SEED));
    const made: Made[] = [];
    let life: Life | null = null;
    let day = 0;
    const turn = async (isPaying: boolean) => {
      for (const organisation of organisations) {
        await setClock(organisation.key, addDays(FROM, day));
        if (isPaying) made.push(...(await payAll(organisation, day)));
      }
      life = await workUntilRest(plan, life);
    };
    for (; day < DAYS_MIN || (KILLS_PER_STEP && !plan.isDone() && day < DAYS_MAX); day += 1) {
      // Work for all steps is there after some days; what is missing then has to do with what is under way.
      await turn(day < DAYS_MIN || day % 4 === 0);
    }
    plan.end();
    day += DAYS_TO_END;
    await turn(false);
    await (life as Life | null)?.end();
    console.log(`${plan.describe()}; ${made.length} payments over ${day} days; seed ${SEED}`);
    if (KILLS_PER_STEP) console.log(plan.list().join('\n'));
    expect(plan.kills).toBeGreaterThanOrEqual(KILLS_PER_STEP ? KILLS_PER_STEP * 20 : PLAN.all);
    if (KILLS_PER_STEP) expect(plan.isDone()).toBe(true);

    expect(await historiesOf(made)).toEqual(made.map(expectedHistory));
    const losses = new Map(
      made.flatMap((one) => {
        const kind = lossOf(one);
        return kind ? [[one.id, { kind, amount: one.amount }] as const] : [];
      }),
    );
    const days = Array.from({ length: day + 1 }, (_, n) => addDays(FROM, n));
    expect(await disagreements(harness.database, { days, losses })).toEqual([]);
    for (const { key } of organisations)
      expect((await harness.call('GET', '/v1/ledger/check', { key })).body.ok).toBe(true);
    expect((await harness.database.query('select reason from rail_quarantine')).rows).toEqual([]);
  },
  TIMEOUT_MS,
);

async function historiesOf(made: readonly Made[]): Promise<string[]> {
  const histories: string[] = [];
  for (const { id, key } of made) {
    const { body } = await harness.call('GET', `/v1/payments/${id}`, { key });
    histories.push(body.timeline.map(({ status }: { status: string }) => status).join(' > '));
  }
  return histories;
}
