import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@libs/db';
import { addDays, fromNewYork } from '../../services/payments/src/clock/new-york.ts';
import { tenantOf } from '../../services/payments/src/tenant.ts';
import { type Harness, startHarness } from '../contract/payments/harness.ts';
import { disagreements } from './books.ts';
import { daysOf, type Landmarks, landmarksOf, PERIODS, type Period } from './days.ts';
import { createDisturbances } from './disturbances.ts';
import { expectedHistory, lossOf, nextOrder, type Order, pick, randomFrom } from './orders.ts';
import { startWebhookSink, type WebhookSink } from './webhook-sink.ts';

/*
 * Months under sandbox clocks, over HTTP against the real service with its workers: payments of every kind on every day,
 * at the hours around the windows. Afterwards every payment must have ended as it must, the networks' books must agree
 * with the ledger to the cent, and every event must have arrived as a webhook.
 */

export interface MonthReport {
  payments: number;
  days: number;
  landmarks: Landmarks;
  /** Payments that are still under way. */
  stuck: number;
  /** What differs between the networks' books, our entries and the ledger; empty where they agree. */
  disagreements: string[];
  /** Payments that did not end as they must. */
  wrongEnds: string[];
  /** What was planted that must be put aside, and what was. */
  aside: { planted: number; found: number };
  webhooks: { events: number; arrived: number };
  errors: unknown[];
  seconds: number;
}

export interface MonthOptions {
  payments: number;
  seed: number;
}

const HOURS = ['03:17', '10:14', '10:15', '14:29', '16:31', '22:29', '23:40'] as const;
const PAYMENTS_PER_HOUR_MIN = 5;
const BALANCES = 5;
const FUND_CENTS = 9_999_999_999;
/** Late returns come two banking days after settlement, refunds after that, and a debit may be presented three times. */
const DAYS_AFTER = 21;
const REQUESTS_AT_ONCE = 32;
const POLL_MS = 20;
const REST_MS_MAX = 120_000;
/** Questions after a time-out and their answers, and what webhooks still have to do. */
const SETTLE_MS_MAX = 120_000;

interface Made extends Order {
  id: string;
}

export async function simulateMonths({ payments, seed }: MonthOptions): Promise<MonthReport> {
  const startedAt = performance.now();
  const sink = await startWebhookSink();
  const harness = await startHarness({ env: { PAYMENTS_ACH_REPRESENT: '2', PAYMENTS_SANDBOX_RTP_MS: '0' } });
  try {
    const days = PERIODS.reduce((sum, period) => sum + period.days, 0);
    const random = randomFrom(seed);
    const months = PERIODS.map((period) => {
      const count = Math.round((payments * period.days) / days);
      return runPeriod(harness, { period, sink, count, random: randomFrom(Math.floor(random() * 2 ** 31)) });
    });
    const periods = await Promise.all(months);
    const made = periods.flatMap((period) => period.made);
    const planted = periods.reduce((sum, period) => sum + period.planted, 0);
    await waitUntil(async () => (await openPayments(harness.database)) === 0, SETTLE_MS_MAX);
    const webhooks = await countWebhooks(harness.database, sink);
    return {
      payments: made.length,
      days,
      landmarks: landmarksOf(PERIODS),
      stuck: await openPayments(harness.database),
      disagreements: await findDisagreements(harness, made),
      wrongEnds: await findWrongEnds(harness.database, made),
      aside: { planted, found: await countAside(harness.database) },
      webhooks,
      errors: harness.errors,
      seconds: (performance.now() - startedAt) / 1_000,
    };
  } finally {
    await harness.stop();
    await sink.stop();
  }
}

interface PeriodRun {
  period: Period;
  sink: WebhookSink;
  count: number;
  random: () => number;
}

async function runPeriod(
  harness: Harness,
  { period, sink, count, random }: PeriodRun,
): Promise<{ made: Made[]; planted: number }> {
  const { id: organisationId, test: key } = await harness.organisation();
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await harness.call('POST', path, { key, body, headers });
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const setClock = (date: string, time: string) =>
    post('/v1/sandbox/clock', { now: fromNewYork(date, time).toISOString() });
  await setClock(period.from, '00:00');
  await post('/v1/webhook_endpoints', { url: sink.url });
  const balances: string[] = [];
  for (let number = 0; number < BALANCES; number += 1) {
    const { id } = await post('/v1/payment_methods', { type: 'balance' });
    await post(`/v1/sandbox/payment_methods/${id}/fund`, { amount: FUND_CENTS });
    balances.push(id);
  }
  const pay = async (order: Order): Promise<Made> => {
    const source = order.source === 'balance' ? pick(random, balances) : order.source;
    const free = balances.filter((balance) => balance !== source);
    const destination = order.destination.endsWith('balance') ? pick(random, free) : order.destination;
    const body = {
      amount: order.amount,
      currency: 'USD',
      source: { payment_method_id: source },
      destination: { payment_method_id: destination },
      rail: order.rail,
      routing: { prefer: order.prefer },
      ...(order.description === null ? {} : { description: order.description }),
    };
    const { id } = await post('/v1/payments', body, {
      'idempotency-key': `${period.name} ${made.length} ${random()}`,
    });
    return { ...order, id };
  };
  const made: Made[] = [];
  const disturbances = createDisturbances(harness, tenantOf(organisationId, 'test').id, random);
  for (const [index, date] of daysOf(period).entries()) {
    const hours = hoursOf(random, count / period.days);
    const until = Math.round((count * (index + 1)) / period.days);
    for (const [turn, hour] of hours.entries()) {
      await setClock(date, hour);
      const wanted = Math.ceil((until - made.length) / (hours.length - turn));
      const orders = Array.from({ length: wanted }, () => nextOrder(random));
      for (let start = 0; start < orders.length; start += REQUESTS_AT_ONCE) {
        made.push(...(await Promise.all(orders.slice(start, start + REQUESTS_AT_ONCE).map(pay))));
      }
      await comeToRest(harness);
      const canceled = made.slice(made.length - wanted).filter((one) => one.isCanceled);
      for (const { id } of canceled) await post(`/v1/payments/${id}/cancel`, {});
      await disturbances.disturb();
    }
  }
  await setClock(addDays(period.from, period.days + DAYS_AFTER), '12:00');
  await comeToRest(harness);
  return { made, planted: disturbances.planted };
}

/** Where there are few payments there are few hours as well: each of them takes its time. */
function hoursOf(random: () => number, paymentsPerDay: number): string[] {
  const chosen = HOURS.filter(() => random() < 0.3).slice(
    0,
    Math.ceil(paymentsPerDay / PAYMENTS_PER_HOUR_MIN),
  );
  return chosen.length > 0 ? chosen : ['12:00'];
}

async function waitUntil(isTrue: () => Promise<boolean>, msMax: number): Promise<boolean> {
  const end = performance.now() + msMax;
  while (!(await isTrue())) {
    if (performance.now() > end) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** Waits until no job is due or under way: then what the clock made due has happened. */
async function comeToRest({ database, errors }: Harness): Promise<void> {
  const isResting = async () => {
    const { rows } = await database.query<{ busy: boolean }>(
      `select exists (select from jobs where failed_at is null and (attempts > 0 or ready_at <= clock_timestamp()))
         as busy`,
    );
    return rows[0]?.busy === false;
  };
  if (!(await waitUntil(isResting, REST_MS_MAX)))
    throw new Error(`the workers do not come to rest: ${errors.slice(0, 3).join('; ')}`);
}

async function openPayments(database: Database): Promise<number> {
  const { rows } = await database.query<{ open: number }>(
    `select count(*)::int as open from payments where status in ('pending', 'processing')`,
  );
  return rows[0]?.open ?? 0;
}

async function countAside(database: Database): Promise<number> {
  const { rows } = await database.query<{ aside: number }>(
    'select count(*)::int as aside from rail_quarantine',
  );
  return rows[0]?.aside ?? 0;
}

async function countWebhooks(database: Database, sink: WebhookSink): Promise<MonthReport['webhooks']> {
  const countEvents = async () => {
    const { rows } = await database.query<{ events: number }>('select count(*)::int as events from events');
    return rows[0]?.events ?? 0;
  };
  await waitUntil(async () => sink.events.size >= (await countEvents()), SETTLE_MS_MAX);
  return { events: await countEvents(), arrived: sink.events.size };
}

async function findDisagreements(harness: Harness, made: readonly Made[]): Promise<string[]> {
  const { database } = harness;
  const days = PERIODS.flatMap((period) => daysOf({ ...period, days: period.days + DAYS_AFTER + 1 }));
  const losses = new Map(
    made.flatMap((one) => {
      const kind = lossOf(one);
      return kind ? [[one.id, { kind, amount: one.amount }]] : [];
    }),
  );
  const wrong = await disagreements(database, { days: [...new Set(days)], losses });
  const { rows: organisations } = await database.query<{ id: string }>(
    'select distinct split_part(tenant_id, $1, 1) as id from payments',
    ['.'],
  );
  for (const { id } of organisations) {
    const { key } = await harness.key(id, { mode: 'test' });
    const { body } = await harness.call('GET', '/v1/ledger/check', { key });
    for (const { name, ok, detail } of body.checks) if (!ok) wrong.push(`ledger: ${name} ${detail}`);
  }
  return wrong;
}

async function findWrongEnds(database: Database, made: readonly Made[]): Promise<string[]> {
  const { rows } = await database.query<{ id: string; document: string }>(
    'select id, document from payments where id = any($1)',
    [made.map(({ id }) => id)],
  );
  const histories = new Map(
    rows.map(({ id, document }) => {
      const { timeline } = JSON.parse(document) as { timeline: { status: string }[] };
      return [id, timeline.map(({ status }) => status).join(' > ')];
    }),
  );
  return made.flatMap((one) => {
    const [expected, found] = [expectedHistory(one), histories.get(one.id)];
    return expected === found
      ? []
      : [`${one.rail} ${one.source} to ${one.destination} (${one.id}): ${found}, not ${expected}`];
  });
}
