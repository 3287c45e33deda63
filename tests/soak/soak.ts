import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase } from '@libs/db';
import { type RunningService, startService } from '../../bench/environment.ts';
import { type Load, measured } from '../../bench/load.ts';
import { acceptLoad, rtpBody } from '../../bench/payments/accept-load.ts';
import { startReceiver } from '../../bench/payments/receiver.ts';
import { SCHEMA } from '../../services/payments/src/migrations.ts';
import { DELIVERY_SCHEMA } from '../../services/payments/src/webhooks/rules.ts';
import { SAMPLES_MIN, type Sample, whatGrew } from './flat.ts';

/*
 * One process that accepts, completes and tells by webhook, for a long time at a part of what it can do: whatever leaks or
 * slows down with use shows.
 */

export interface SoakOptions {
  databaseUrl: string;
  seconds: number;
  /** For how long the rate is measured first. */
  measureSeconds: number;
  /** Of the measured rate. */
  share: number;
  onSample?: (sample: Sample) => void;
}

export interface SoakReport {
  /** Payments a second that were accepted, completed and told of while they came as fast as they could. */
  measuredPerSecond: number;
  samples: Sample[];
  /** What still waited long after the last payment was accepted. */
  stuck: number;
  /** Payments that were completed without a word to the endpoint, which is told of each at least once. */
  untold: number;
  grew: string[];
}

const STRETCHES_MAX = 40;
const STRETCH_SECONDS_MIN = 1;
const CONNECTIONS = 64;
const REST_MS_MAX = 120_000;
const POLL_MS = 250;
/** Rows come and go in these; all other tables keep what happened. */
const PASSING_TABLES = [
  'jobs',
  'queue',
  'lanes',
  'dispatchers',
  'failing_endpoints',
  'emptying',
  'payments_uncompleted',
];

/** Payments that are under way, jobs that are due, and deliveries. */
const WAITING = `(select count(*)::int from payments_uncompleted where status in ('pending', 'processing'))
  + (select count(*)::int from jobs where failed_at is null and ready_at <= statement_timestamp())
  + (select count(*)::int from ${DELIVERY_SCHEMA}.queue)`;

export async function soak(options: SoakOptions): Promise<SoakReport> {
  await using opened = new AsyncDisposableStack();
  const receiver = await startReceiver();
  opened.defer(() => receiver.stop());
  const service = await startService('payments', {
    DATABASE_URL: options.databaseUrl,
    ...{ PAYMENTS_RATE_TEST: '0', PAYMENTS_LOG_LEVEL: 'error', PAYMENTS_SANDBOX_RTP_MS: '20' },
  });
  opened.defer(() => service.stop());
  const database = await openDatabase({ url: options.databaseUrl, schema: SCHEMA, connectionsMax: 1 });
  opened.defer(() => database.close());
  await subscribe(service, receiver.url);
  const load = acceptLoad(service.url, { body: rtpBody, connections: CONNECTIONS, warmupSeconds: 0 });
  const first = await measureRate(database, load, options.measureSeconds);
  const measuredPerSecond = first.perSecond;
  let payments = first.requests;
  const wantedPerSecond = measuredPerSecond * options.share;
  let pauseMs = (CONNECTIONS / wantedPerSecond) * 1_000;
  const samples: Sample[] = [];
  let arrived = 0;
  const stretches = Math.max(
    SAMPLES_MIN,
    Math.min(STRETCHES_MAX, Math.floor(options.seconds / STRETCH_SECONDS_MIN)),
  );
  for (let stretch = 0; stretch < stretches; stretch += 1) {
    const { requests, perSecond, p99Ms } = await measured({
      ...load,
      seconds: options.seconds / stretches,
      pauseMs,
    });
    // Counted here: millions of rows counted by the database would be the heaviest load of all.
    payments += requests;
    pauseMs = nextPause(pauseMs, perSecond, wantedPerSecond);
    // Twenty minutes of arrivals are too many to keep.
    arrived += (await receiver.takeArrivals()).length;
    const sample = { perSecond, p99Ms, payments, ...(await lookAt(service, database)) };
    samples.push(sample);
    options.onSample?.(sample);
  }
  const stuck = await waitForRest(database);
  arrived += (await receiver.takeArrivals()).length;
  const untold = Math.max(0, (await countCompleted(database)) - arrived);
  return { measuredPerSecond, samples, stuck, untold, grew: whatGrew(samples) };
}

/** A connection is late by what its requests take: so much shorter it rests in the next stretch. */
export function nextPause(pauseMs: number, perSecond: number, wantedPerSecond: number): number {
  const tookMs = (CONNECTIONS / perSecond) * 1_000 - pauseMs;
  return Math.max(0, (CONNECTIONS / wantedPerSecond) * 1_000 - Math.max(0, tookMs));
}

async function subscribe({ url }: RunningService, receiver: string): Promise<void> {
  const response = await fetch(`${url}/v1/webhook_endpoints`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk_test_sandbox', 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver, events: ['payment.completed'] }),
  });
  if (response.status !== 201) throw new Error(`the endpoint was not made: ${await response.text()}`);
}

/** What was accepted until all of it had ended, by the time that took. */
async function measureRate(
  database: Database,
  load: Load,
  seconds: number,
): Promise<{ requests: number; perSecond: number }> {
  const startedAt = performance.now();
  const { requests } = await measured({ ...load, seconds });
  await waitForRest(database);
  return { requests, perSecond: requests / ((performance.now() - startedAt) / 1_000) };
}

async function countCompleted(database: Database): Promise<number> {
  const { rows } = await database.query<{ completed: number }>(
    `select count(*)::int as completed from payments where status = 'completed'`,
  );
  return rows[0]?.completed ?? 0;
}

/** Answers how much waits all the same. */
async function waitForRest(database: Database): Promise<number> {
  const end = performance.now() + REST_MS_MAX;
  for (;;) {
    const { rows } = await database.query<{ waiting: number }>(`select ${WAITING} as waiting`);
    const waiting = rows[0]?.waiting ?? 0;
    if (waiting === 0 || performance.now() > end) return waiting;
    await sleep(POLL_MS);
  }
}

async function lookAt(
  service: RunningService,
  database: Database,
): Promise<Omit<Sample, 'perSecond' | 'p99Ms' | 'payments'>> {
  const { rows } = await database.query<Omit<Sample, 'perSecond' | 'p99Ms' | 'payments' | 'residentMb'>>(
    `with tables as (
       select c.relname = any($1) as passing, pg_total_relation_size(c.oid) as bytes
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p') and n.nspname like 'payments%'
     )
     select (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
       ${WAITING} as waiting,
       coalesce(sum(bytes) filter (where passing), 0)::bigint as "passingBytes",
       coalesce(sum(bytes) filter (where not passing), 0)::bigint as "keptBytes" from tables`,
    [PASSING_TABLES],
  );
  const [row] = rows;
  if (!row) throw new Error('the database says nothing of itself');
  return { ...row, residentMb: await service.residentMb() };
}
