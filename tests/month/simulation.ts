import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@libs/db';
import { addDays, type CivilDate, fromNewYork } from '../../services/payments/src/clock/new-york.ts';
import { tenantOf } from '../../services/payments/src/tenant.ts';
import { type Harness, startHarness } from '../contract/payments/harness.ts';
import { disagreements, type Loss } from './books.ts';
import { CROWD_DAY, CROWD_DAYS, type CrowdPayment, runCrowd } from './crowd.ts';
import { daysOf, type Landmarks, landmarksOf, PERIODS, type Period } from './days.ts';
import { createDisturbances } from './disturbances.ts';
import { type MorningsReport, walkMornings } from './mornings.ts';
import { answerAgain } from './network-answers.ts';
import { expectedHistory, lossOf, nextOrder, type Order, pick, randomFrom } from './orders.ts';
import { createReturningBank, type Expected, everyReturn, orderFor, type Wish } from './returns.ts';
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
  /** Returns by code, side and moment: how many there are, and how many happened. */
  returns: { all: number; done: number };
  /** Files that the bank refused after it had taken them. */
  refusedFiles: { again: number; forGood: number };
  /** How many returns were in the one file that held an odd one. */
  crowd: number;
  /** Answers of the instant network beside its own. */
  repeatedAnswers: number;
  /** The daily look of the mornings, with what was planted on the evenings before. */
  mornings: MorningsReport;
  /** What was planted that must be put aside, and what was. */
  aside: { planted: number; found: number };
  webhooks: { events: number; arrived: number };
  errors: unknown[];
  seconds: number;
}

export interface MonthOptions {
  payments: number;
  seed: number;
  /** On how many days something is planted in the network's books; on all of them where it is not given. */
  mornings?: number;
}

const HOURS = ['03:17', '10:14', '10:15', '14:29', '16:31', '22:29', '23:40'] as const;
/** When credits are under way. */
const NIGHTS: readonly string[] = ['03:17', '23:40'];
const PAYMENTS_PER_HOUR_MIN = 5;
const BALANCES = 5;
const FUND_CENTS = 9_999_999_999;
/** Late returns come two banking days after settlement, refunds after that, and a debit may be presented three times. */
const DAYS_AFTER = 21;
/** For what is refunded after a return. */
const DAYS_AFTER_RETURNS = 9;
const REQUESTS_AT_ONCE = 32;
const POLL_MS = 20;
const REST_MS_MAX = 120_000;
/** Questions after a time-out and their answers, and what webhooks still have to do. */
const SETTLE_MS_MAX = 120_000;

interface Made extends Order {
  id: string;
  expected: Expected;
}

/** So that every return there is gets its payments, also those whose moment was missed at first. */
const RETURNED_SHARE = 0.14;

export async function simulateMonths({ payments, seed, mornings }: MonthOptions): Promise<MonthReport> {
  const startedAt = performance.now();
  const sink = await startWebhookSink();
  const harness = await startHarness({ env: { PAYMENTS_ACH_REPRESENT: '2', PAYMENTS_SANDBOX_RTP_MS: '0' } });
  try {
    const days = PERIODS.reduce((sum, period) => sum + period.days, 0);
    const random = randomFrom(seed);
    const wishes = shuffled(everyReturn(), random);
    const months = PERIODS.map((period, index) =>
      runPeriod(harness, {
        ...{ period, sink },
        count: Math.round((payments * period.days) / days),
        random: randomFrom(Math.floor(random() * 2 ** 31)),
        wishes: wishes.filter((_, number) => number % PERIODS.length === index),
      }),
    );
    const crowding = runCrowd(harness, { payments, sink, comeToRest: () => comeToRest(harness) });
    const [crowd, ...periods] = await Promise.all([crowding, ...months]);
    const made: CrowdPayment[] = [...crowd, ...periods.flatMap((period) => period.made)];
    const sum = (count: (period: PeriodReport) => number) =>
      periods.reduce((total, period) => total + count(period), 0);
    // One odd return is among the crowd's.
    const planted = 1 + sum((period) => period.planted);
    await waitUntil(async () => (await openPayments(harness.database)) === 0, SETTLE_MS_MAX);
    const webhooks = await countWebhooks(harness.database, sink);
    return {
      payments: made.length,
      days,
      landmarks: landmarksOf(PERIODS),
      stuck: await openPayments(harness.database),
      disagreements: await findDisagreements(harness, made),
      mornings: await walkMornings(harness.database, {
        days: await daysToWalk(harness.database, mornings),
        losses: lossesOf(made),
        random,
        isWhole: mornings === undefined,
      }),
      wrongEnds: await findWrongEnds(harness.database, made),
      returns: { all: wishes.length, done: sum((period) => period.returns) },
      refusedFiles: {
        again: sum((period) => period.refused.again),
        forGood: sum((period) => period.refused.forGood),
      },
      crowd: crowd.length,
      repeatedAnswers: sum((period) => period.repeatedAnswers),
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
  /** The returns that must happen in it. */
  wishes: Wish[];
}

interface PeriodReport {
  made: Made[];
  planted: number;
  returns: number;
  refused: { again: number; forGood: number };
  repeatedAnswers: number;
}

async function runPeriod(
  harness: Harness,
  { period, sink, count, random, wishes }: PeriodRun,
): Promise<PeriodReport> {
  const { id: organisationId, test: key } = await harness.organisation();
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const answer = await harness.call('POST', path, { key, body, headers });
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const setClock = async (date: string, time: string): Promise<Date> => {
    const now = fromNewYork(date, time);
    await post('/v1/sandbox/clock', { now: now.toISOString() });
    return now;
  };
  await setClock(period.from, '00:00');
  await post('/v1/webhook_endpoints', { url: sink.url });
  const balances: string[] = [];
  for (let number = 0; number < BALANCES; number += 1) {
    const { id } = await post('/v1/payment_methods', { type: 'balance' });
    await post(`/v1/sandbox/payment_methods/${id}/fund`, { amount: FUND_CENTS });
    balances.push(id);
  }
  const mailbox = tenantOf(organisationId, 'test').id;
  const expected = new Map<string, Expected>();
  const bank = createReturningBank(harness.database, mailbox, (wish) => wishes.push(wish));
  const disturbances = createDisturbances(harness, { mailbox, random, expected });
  const pay = async ({ order, wish }: Wanted): Promise<Made> => {
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
    const end: Expected = { history: expectedHistory(order), loss: lossOf(order) };
    expected.set(id, end);
    if (wish) bank.plan(id, { wish, order, expected: end });
    return { ...order, id, expected: end };
  };
  const next = (): Wanted => {
    const wish = random() < RETURNED_SHARE ? wishes.shift() : undefined;
    return wish ? { order: orderFor(wish, random), wish } : { order: nextOrder(random), wish: null };
  };
  const made: Made[] = [];
  const answers = { delivered: 0, planted: 0 };
  for (const [index, date] of daysOf(period).entries()) {
    const hours = hoursOf(random, count / period.days);
    const until = Math.round((count * (index + 1)) / period.days);
    // Where there are few payments, some days pass by themselves: each turn takes its time.
    if (until - made.length < PAYMENTS_PER_HOUR_MIN && index + 1 < period.days) continue;
    for (const [turn, hour] of hours.entries()) {
      const now = await setClock(date, hour);
      const wanted = Math.ceil((until - made.length) / (hours.length - turn));
      const orders = Array.from({ length: wanted }, next);
      for (let start = 0; start < orders.length; start += REQUESTS_AT_ONCE) {
        made.push(...(await Promise.all(orders.slice(start, start + REQUESTS_AT_ONCE).map(pay))));
      }
      await comeToRest(harness);
      const latest = made.slice(made.length - wanted);
      for (const { id } of latest.filter((one) => one.isCanceled))
        await post(`/v1/payments/${id}/cancel`, {});
      await disturbances.disturb();
      await bank.act(now, random, { isEnd: false });
      const again = await answerAgain(harness, { key, made: latest, random });
      answers.delivered += again.delivered;
      answers.planted += again.planted;
    }
  }
  const end = addDays(period.from, period.days + DAYS_AFTER);
  const now = await setClock(end, '12:00');
  await comeToRest(harness);
  await bank.act(now, random, { isEnd: true });
  await setClock(addDays(end, DAYS_AFTER_RETURNS), '12:00');
  await comeToRest(harness);
  return {
    made,
    planted: disturbances.planted + bank.planted + answers.planted,
    returns: bank.done.length,
    refused: disturbances.refused,
    repeatedAnswers: answers.delivered,
  };
}

interface Wanted {
  order: Order;
  wish: Wish | null;
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Where there are few payments there are few hours as well: each of them takes its time. */
function hoursOf(random: () => number, paymentsPerDay: number): string[] {
  const chosen = HOURS.filter((hour) => random() < (NIGHTS.includes(hour) ? 0.6 : 0.3)).slice(
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

function lossesOf(made: readonly CrowdPayment[]): Map<string, Loss> {
  return new Map(
    made.flatMap(({ id, amount, expected: { loss: kind } }) => (kind ? [[id, { kind, amount }]] : [])),
  );
}

/** Every day on which anything may have left. */
function allDays(): CivilDate[] {
  const months = PERIODS.flatMap((period) =>
    daysOf({ ...period, days: period.days + DAYS_AFTER + DAYS_AFTER_RETURNS + 1 }),
  );
  const crowd = daysOf({ name: 'crowd', from: CROWD_DAY, days: CROWD_DAYS });
  return [...new Set([...crowd, ...months])].sort();
}

/** All of them, or so many of those of which something has settled, evenly spread. */
async function daysToWalk(database: Database, mornings: number | undefined): Promise<CivilDate[]> {
  if (mornings === undefined) return allDays();
  const { rows } = await database.query<{ day: CivilDate }>(
    `select distinct n.day from sandbox_ach_entries n join ach_entries e on e.scope = n.mailbox and e.trace = n.trace
     where e.state = 'settled' and n.returned_at is null order by n.day`,
  );
  return Array.from({ length: mornings }, (_, n) => {
    const at = Math.floor(((n + 0.5) * rows.length) / mornings);
    return rows[at]?.day as CivilDate;
  });
}

async function findDisagreements(harness: Harness, made: readonly CrowdPayment[]): Promise<string[]> {
  const { database } = harness;
  const wrong = await disagreements(database, { days: allDays(), losses: lossesOf(made) });
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

async function findWrongEnds(database: Database, made: readonly CrowdPayment[]): Promise<string[]> {
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
    const [expected, found] = [one.expected.history, histories.get(one.id)];
    return expected === found ? [] : [`${describeOrder(one)} (${one.id}): ${found}, not ${expected}`];
  });
}

function describeOrder(one: CrowdPayment & Partial<Order>): string {
  return one.rail ? `${one.rail} ${one.source} to ${one.destination}` : 'one of the crowd';
}
