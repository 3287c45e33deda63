import { addDays, fromNewYork } from '../../services/payments/src/clock/new-york.ts';
import { tenantOf } from '../../services/payments/src/tenant.ts';
import type { Harness } from '../contract/payments/harness.ts';
import { daysOf, type Period } from './days.ts';
import { createDisturbances } from './disturbances.ts';
import { answerAgain } from './network-answers.ts';
import { expectedHistory, lossOf, nextOrder, type Order, pick } from './orders.ts';
import { comeToRest } from './resting.ts';
import { createReturningBank, type Expected, orderFor, type Wish } from './returns.ts';
import type { WebhookSink } from './webhook-sink.ts';

/*
 * One month of one organisation, hour by hour, and the days until all of it has ended.
 */

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
/**
 * A return that is wished for in the last days of a month, or whose moment was missed then, finds no payment any more that comes to
 * its moment within it: the month goes on with payments for these alone, through so many days at most.
 */
const DAYS_FOR_LAST_RETURNS = 45;
const REQUESTS_AT_ONCE = 32;
/** So that every return there is gets its payments, also those whose moment was missed at first. */
const RETURNED_SHARE = 0.14;

/** The days after its own in which something of a month may still leave. */
export const DAYS_TO_END = DAYS_FOR_LAST_RETURNS + DAYS_AFTER + DAYS_AFTER_RETURNS + 1;

interface Made extends Order {
  id: string;
  expected: Expected;
}

interface PeriodRun {
  period: Period;
  sink: WebhookSink;
  count: number;
  random: () => number;
  /** The returns that must happen in it. */
  wishes: Wish[];
  /** It goes on until each of them has happened. */
  untilEveryReturn: boolean;
}

export interface PeriodReport {
  made: Made[];
  planted: number;
  /** Those that happened as they were wished. */
  returns: readonly Wish[];
  refused: { again: number; forGood: number };
  repeatedAnswers: number;
}

export async function runPeriod(
  harness: Harness,
  { period, sink, count, random, wishes, untilEveryReturn }: PeriodRun,
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
  const payAll = async (orders: readonly Wanted[]) => {
    for (let start = 0; start < orders.length; start += REQUESTS_AT_ONCE)
      made.push(...(await Promise.all(orders.slice(start, start + REQUESTS_AT_ONCE).map(pay))));
  };
  const answers = { delivered: 0, planted: 0 };
  for (const [index, date] of daysOf(period).entries()) {
    const hours = hoursOf(random, count / period.days);
    const until = Math.round((count * (index + 1)) / period.days);
    // Where there are few payments, some days pass by themselves: each turn takes its time.
    if (until - made.length < PAYMENTS_PER_HOUR_MIN && index + 1 < period.days) continue;
    for (const [turn, hour] of hours.entries()) {
      const now = await setClock(date, hour);
      const wanted = Math.ceil((until - made.length) / (hours.length - turn));
      await payAll(Array.from({ length: wanted }, next));
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
  const isReturnLeft = () => wishes.length > 0 || bank.waiting > 0;
  let days = period.days;
  for (; untilEveryReturn && isReturnLeft() && days < period.days + DAYS_FOR_LAST_RETURNS; days += 1) {
    for (const hour of NIGHTS) {
      const now = await setClock(addDays(period.from, days), hour);
      await payAll(wishes.splice(0).map((wish) => ({ order: orderFor(wish, random), wish })));
      await comeToRest(harness);
      await bank.act(now, random, { isEnd: false });
    }
  }
  const end = addDays(period.from, days + DAYS_AFTER);
  const now = await setClock(end, '12:00');
  await comeToRest(harness);
  await bank.act(now, random, { isEnd: true });
  await setClock(addDays(end, DAYS_AFTER_RETURNS), '12:00');
  await comeToRest(harness);
  return {
    made,
    planted: disturbances.planted + bank.planted + answers.planted,
    returns: bank.done,
    refused: disturbances.refused,
    repeatedAnswers: answers.delivered,
  };
}

interface Wanted {
  order: Order;
  wish: Wish | null;
}

/** Where there are few payments there are few hours as well: each of them takes its time. */
function hoursOf(random: () => number, paymentsPerDay: number): string[] {
  const chosen = HOURS.filter((hour) => random() < (NIGHTS.includes(hour) ? 0.6 : 0.3)).slice(
    0,
    Math.ceil(paymentsPerDay / PAYMENTS_PER_HOUR_MIN),
  );
  return chosen.length > 0 ? chosen : ['12:00'];
}
