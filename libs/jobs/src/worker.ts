import { type Database, isServerMissing, type Queryable, type Subscription } from '@libs/db';
import { createOutage, leaveTrace, type Outage, runInCarried, sharedTrace, startBeats } from '@libs/runtime';
import { type Claim, claimNext, findServersOf, type TenantsOf } from './claims.ts';
import type { JobMetrics } from './metrics.ts';
import { overlapOf } from './overlap.ts';
import { Running } from './running.ts';
import type { Schedule } from './schedule.ts';
import { type Items, Shares } from './shares.ts';
import {
  completeJobs,
  enqueueJobs,
  extendLeases,
  failJob,
  isCompleted,
  type Job,
  LeaseLost,
  nextDueInMs,
  readTime,
  wakeChannel,
} from './store.ts';

/*
 * Why not graphile-worker, the field's best: a job of a killed worker comes back only after four hours there, its
 * tasks take one job at a time, and it marks a job done in another transaction than the job's own. Here a lease of
 * seconds brings it back, a handler takes a batch, and `completeJobs` commits with the effect.
 */

export interface Handler {
  name: string;
  /** Other names under which the same work waits. Each has batches of its own, so that none waits behind another. */
  lanes?: readonly string[];
  /**
   * Does the work of a batch. It may call `completeJobs(tx, jobs)` inside its own transaction; what it leaves is
   * completed when it returns. When a batch throws, its jobs are tried one by one, so a bad one harms no other.
   */
  handle(jobs: readonly Job[], context: { signal: AbortSignal }): Promise<void>;
  batchMax?: number;
  /** Where tables are spread: its jobs wait for the servers of these alone, and without it for every one. It is not asked on one server. */
  tenantsOf?: TenantsOf;
  /**
   * For jobs that hold many items each: a batch has about as many jobs as make `max` items, by the size of those before,
   * and at least one. Without it the memory that a batch takes would grow with whoever makes the jobs.
   */
  items?: Items;
  /** How many batches of this name one process works on at once: a number, or as many up to it as make the work faster. */
  concurrency?: number | { most: number };
  leaseMs?: number;
  attemptsMax?: number;
  /** The wait before try n + 1. */
  retryDelayMs?: (attempt: number) => number;
}

export interface CronEntry {
  name: string;
  schedule: Schedule;
}

export interface WorkerOptions {
  database: Database;
  handlers: readonly Handler[];
  cron?: readonly CronEntry[];
  now: () => Date;
  onError: (error: unknown, context: { job: string; ids?: readonly number[] }) => void;
  /** Lasts while the table cannot be looked at, for all handlers together; otherwise `onError` hears when each begins to fail. */
  outage?: Outage;
  /** Told of every batch. */
  metrics?: JobMetrics;
  /** Of how many batches at once a name may come to at most, where its handler leaves that open: they share connections. */
  batchesMax?: number;
  /** A safety net below the wake-ups: the longest time between two looks at the table. */
  pollMs?: number;
}

export interface Worker {
  /** Takes no further job and waits for those under way; what it held longer than `timeoutMs` comes back by lease. */
  drain(timeoutMs?: number): Promise<void>;
}

const POLL_MS = 5_000;
/** The longest time between two looks at a job that is due and locked: its holder may hang. */
const LOCKED_POLL_MS = 250;
const LEASE_MS = 10_000;
const BATCH_MAX = 100;
const ATTEMPTS_MAX = 25;
const ERROR_TEXT_MAX = 1_000;
/**
 * So long jobs that are under way may go on when their process is stopped; then their signal tells them to end. What is left
 * of the 30 seconds that a process has is for them to end, and for everything to be closed.
 */
export const DRAIN_PATIENCE_MS = 12_000;

function defaultRetryDelayMs(attempt: number): number {
  return Math.min(250 * 2 ** (attempt - 1), 10 * 60_000);
}

export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { database } = options;
  const named = options.handlers.flatMap((handler) =>
    [handler.name, ...(handler.lanes ?? [])].map((name) => ({ ...handler, name })),
  );
  const lanes = new Map(named.map((handler) => [handler.name, createLane(handler, options)]));
  await plantCron(options);
  const wakeAll = () => {
    for (const lane of lanes.values()) lane.wake();
  };
  const subscription: Subscription = await database.listen(
    wakeChannel(database.schema),
    (name) => lanes.get(name)?.wake(),
    { onReconnect: wakeAll },
  );
  wakeAll();
  return {
    async drain(timeoutMs = DRAIN_PATIENCE_MS) {
      await subscription.stop();
      await Promise.all([...lanes.values()].map((lane) => lane.drain(timeoutMs)));
    },
  };
}

/** Each cron entry is one waiting job; its run plants the next one in the transaction that completes it. */
async function plantCron({ database, cron = [], now }: WorkerOptions): Promise<void> {
  const due = cron.map((entry) => ({
    name: entry.name,
    payload: {},
    key: 'cron',
    runAt: entry.schedule(now()),
  }));
  await enqueueJobs(database, database.schema, due);
}

interface Lane {
  wake(): void;
  drain(timeoutMs: number): Promise<void>;
}

function createLane(handler: Handler, options: WorkerOptions): Lane {
  const { database, onError } = options;
  const outage =
    options.outage ??
    createOutage({ began: (error) => onError(error, { job: handler.name }), ended: () => {} });
  const leaseMs = handler.leaseMs ?? LEASE_MS;
  const limit = handler.batchMax ?? BATCH_MAX;
  const overlap = overlapOf(handler.concurrency, options.batchesMax);
  const shares = new Shares(handler.items, limit);
  const cron = options.cron?.find((entry) => entry.name === handler.name);
  const abort = new AbortController();
  const running = new Running();
  /** Where tables are spread, batches of one server are no matter to those of another. */
  const isApart = database.isSpread === true;
  const told = new WeakSet<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  /** Ends when no claim is under way any more. */
  let looked = Promise.resolve();
  let lookAgain = false;
  /** Doubles while nothing but what is locked is due: most locks last a moment. */
  let lockedPollMs = 1;
  let stopped = false;

  function wake(): void {
    if (stopped) return;
    lookAgain = true;
    // Whoever wakes it may be in a trace; what it finds is not of it.
    if (!looking) looked = leaveTrace(look);
  }

  function mayTake(): boolean {
    return !stopped && (isApart || running.size < overlap.batches);
  }

  async function look(): Promise<void> {
    looking = true;
    clearTimeout(timer);
    let waitMs = options.pollMs ?? POLL_MS;
    try {
      while (lookAgain && mayTake()) {
        lookAgain = false;
        const wanted = shares.jobsMax;
        const claim = await claimNext(database, {
          ...{ name: handler.name, limit: wanted, leaseMs, tenantsOf: handler.tenantsOf },
          isFull: (servers) => running.on(servers) >= overlap.batches,
        });
        const { jobs } = claim;
        noteAway(claim);
        shares.note(jobs);
        if (jobs.length > 0) {
          lockedPollMs = 1;
          startByTrace(claim);
          options.metrics?.batch(handler.name, { jobs: jobs.length, atOnce: running.size });
        }
        if (claim.isMore) lookAgain = true;
        if (jobs.length < wanted) overlap.ranDry();
      }
      if (mayTake()) {
        const due = await nextDueInMs(database, handler.name);
        lockedPollMs = due === null || due > 0 ? 1 : Math.min(2 * lockedPollMs, LOCKED_POLL_MS);
        if (due !== null) waitMs = Math.min(waitMs, Math.max(due, lockedPollMs));
      }
      outage.worked(handler.name);
    } catch (error) {
      outage.failed(error, handler.name);
    } finally {
      looking = false;
    }
    if (stopped) return;
    // A wake-up that came while the last query ran must not wait for the timer.
    if (lookAgain && mayTake()) looked = look();
    else timer = setTimeout(wake, waitMs);
  }

  /** Told of as long as it lasts, whichever jobs wait for it. */
  function noteAway({ away }: Claim): void {
    for (const { error, back } of away.values()) {
      if (told.has(back)) continue;
      told.add(back);
      outage.failed(error, back);
      void back.then(() => outage.worked(back));
    }
  }

  /** What follows from one request goes on under its trace, and so for itself; nearly all jobs have none, or one for each thing. */
  function startByTrace({ jobs, servers }: Claim): void {
    const groups = [...Map.groupBy(jobs, (job) => sharedTrace(job.traceparent)).values()];
    for (const inTurn of chainsOf(groups, handler.concurrency)) start(inTurn, servers);
  }

  /** Groups of jobs, one after the other. */
  function start(groups: readonly (readonly Job[])[], servers: string): void {
    let isDone = false;
    const noted = runInTurn(groups).then((done) => {
      isDone = done;
    });
    const work = noted.finally(() => {
      running.delete(work);
      // What failed is quick, and says nothing of how fast the work is.
      if (isDone) overlap.ended(shares.itemsIn(groups.flat()));
      else overlap.ranDry();
      wake();
    });
    running.add(work, servers);
  }

  async function runInTurn(groups: readonly (readonly Job[])[]): Promise<boolean> {
    const waiting = new Set(groups.flat());
    const extensions = keepLeases(waiting);
    let isDone = true;
    try {
      for (const group of groups) {
        for (const job of group) waiting.delete(job);
        const carried = group.map((job) => job.traceparent);
        isDone = (await runInCarried(carried, () => run(group))) && isDone;
      }
    } finally {
      extensions.stop();
    }
    return isDone;
  }

  function keepLeases(held: ReadonlySet<Job>): ReturnType<typeof startBeats> {
    return startBeats(leaseMs / 3, async () => {
      if (held.size === 0) return;
      await extendLeases(database, [...held], leaseMs).catch((error: unknown) =>
        onError(error, { job: handler.name }),
      );
    });
  }

  /** Whether all of it was done at the first go. */
  async function run(jobs: readonly Job[]): Promise<boolean> {
    const held = new Set(jobs);
    const extensions = keepLeases(held);
    // An extension under way or to come would put off what is given back.
    const letGo = async (job: Job) => {
      held.delete(job);
      await extensions.settled();
      return job;
    };
    try {
      await handler.handle(jobs, { signal: abort.signal });
      await finish(jobs);
      options.metrics?.tried(handler.name, 'done', jobs.length);
      return true;
    } catch (error) {
      if (error instanceof LeaseLost) onError(error, { job: handler.name });
      else if (jobs.length === 1) await giveBack(await letGo(jobs[0] as Job), error);
      // One by one, each would wait for that server for as long.
      else if (await isServerAway(jobs)) for (const job of jobs) await giveBack(await letGo(job), error);
      else for (const job of jobs) await run([await letGo(job)]);
      return false;
    } finally {
      extensions.stop();
    }
  }

  async function isServerAway(jobs: readonly Job[]): Promise<boolean> {
    if (!isApart) return false;
    try {
      return (await findServersOf(database, jobs, handler.tenantsOf)).away.size > 0;
    } catch (error) {
      onError(error, { job: handler.name });
      return false;
    }
  }

  async function finish(jobs: readonly Job[]): Promise<void> {
    if (!cron) return removeDone(database, jobs);
    await database.transaction(async (tx) => {
      await removeDone(tx, jobs);
      // It was due by the database's clock: by one that is behind, it would be due again at once, until that had caught up.
      const after = Math.max(options.now().getTime(), (await readTime(tx)).getTime());
      const runAt = cron.schedule(new Date(after));
      await enqueueJobs(tx, database.schema, [{ name: cron.name, payload: {}, key: 'cron', runAt }]);
    });
  }

  async function giveBack(job: Job, error: unknown): Promise<void> {
    const text = (error instanceof Error ? error.message : String(error)).slice(0, ERROR_TEXT_MAX);
    const isTriedOut = job.attempt >= (handler.attemptsMax ?? ATTEMPTS_MAX) && !cron;
    // Nothing is wrong with a job whose tenant's server is away, or stands still.
    const last = isTriedOut && !(error instanceof Error && isServerMissing(database, error));
    const retryInMs = last ? null : (handler.retryDelayMs ?? defaultRetryDelayMs)(job.attempt);
    options.metrics?.tried(handler.name, last ? 'failed' : 'retried', 1);
    onError(error, { job: handler.name, ids: [job.id] });
    await failJob(database, job, { error: text, retryInMs, leaseMs }).catch((failure: unknown) =>
      onError(failure, { job: handler.name, ids: [job.id] }),
    );
  }

  return {
    wake,
    async drain(timeoutMs) {
      stopped = true;
      clearTimeout(timer);
      const patience = setTimeout(() => abort.abort(), timeoutMs);
      // What a claim brings that was under way is still done: else it would wait for its lease to run out.
      await looked;
      await running.settled();
      clearTimeout(patience);
    },
  };
}

/**
 * Groups that may be worked on at once, each chain in turn. A handler that says how many batches at most works in the database
 * alone: fifty traces would take fifty connections, and whoever waits for one is a caller. Others mostly wait for somebody outside.
 */
function chainsOf<Group>(groups: readonly Group[], concurrency: Handler['concurrency']): Group[][] {
  const most = typeof concurrency === 'object' ? concurrency.most : groups.length;
  return [...Map.groupBy(groups, (_group, index) => index % most).values()];
}

/** A handler may have completed some of its jobs in its own transaction; the rest go here. */
async function removeDone(db: Queryable, jobs: readonly Job[]): Promise<void> {
  const rest = jobs.filter((job) => !isCompleted(job));
  if (rest.length === 0) return;
  try {
    await completeJobs(db, rest);
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
  }
}
