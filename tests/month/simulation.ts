import type { Database } from '@libs/db';
import type { CivilDate } from '../../services/payments/src/clock/new-york.ts';
import { type Harness, startHarness } from '../contract/payments/harness.ts';
import { disagreements, type Loss } from './books.ts';
import { CROWD_DAY, CROWD_DAYS, type CrowdPayment, runCrowd } from './crowd.ts';
import { daysOf, type Landmarks, landmarksOf, PERIODS } from './days.ts';
import { type MorningsReport, walkMornings } from './mornings.ts';
import { type Order, randomFrom } from './orders.ts';
import { DAYS_TO_END, type PeriodReport, runPeriod } from './period.ts';
import { comeToRest, waitUntil } from './resting.ts';
import { describeWish, everyReturn, type Wish } from './returns.ts';
import { startWebhookSink, type WebhookSink } from './webhook-sink.ts';

/*
 * Months under sandbox clocks, over HTTP against the real service with its workers: payments of every kind on every day,
 * at the hours around the windows. Afterwards every payment must have ended as it must, the networks' books must agree
 * with the ledger to the cent, and every event must have arrived as a webhook.
 */

export interface MonthReport {
  /** Every return and every morning was asked for. */
  isWhole: boolean;
  payments: number;
  days: number;
  landmarks: Landmarks;
  /** Payments that are still under way. */
  stuck: number;
  /** What differs between the networks' books, our entries and the ledger; empty where they agree. */
  disagreements: string[];
  /** Payments that did not end as they must. */
  wrongEnds: string[];
  /** Returns by code, side and moment: how many there are, and those that did not happen. */
  returns: { all: number; missing: string[] };
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

/** Questions after a time-out and their answers, and what webhooks still have to do. */
const SETTLE_MS_MAX = 120_000;

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
        untilEveryReturn: mornings === undefined,
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
      isWhole: mornings === undefined,
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
      returns: { all: wishes.length, missing: missingOf(wishes, periods) },
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

function missingOf(wishes: readonly Wish[], periods: readonly PeriodReport[]): string[] {
  const done = new Set(periods.flatMap(({ returns }) => returns.map(describeWish)));
  return wishes.map(describeWish).filter((wish) => !done.has(wish));
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
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
  const months = PERIODS.flatMap((period) => daysOf({ ...period, days: period.days + DAYS_TO_END }));
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
