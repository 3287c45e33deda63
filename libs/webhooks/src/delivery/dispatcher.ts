import type { Database, Subscription } from '@libs/db';
import type { Poster } from '@libs/egress';
import type { Outage } from '@libs/runtime';
import { type Abandoning, createAbandoning } from './abandoning.ts';
import { readAnnouncement } from './announcement.ts';
import { Announcer } from './announcer.ts';
import type { DeliveryResult } from './delivery.ts';
import { DispatchLoop, type OfferedDelivery } from './dispatch-loop.ts';
import { createExpiryStore } from './expiry-store.ts';
import { Identity } from './identity.ts';
import { createLaneStore } from './lane-store.ts';
import type { DeliveryLoaders } from './loading.ts';
import { createDeliveryMetrics, type DeliveryMetricsDependencies } from './metrics.ts';
import { createOwnerStore } from './owner-store.ts';
import { createQueueStore } from './queue-store.ts';
import { type DeliveryHooks, Recorder, type RecorderOptions } from './recorder.ts';
import { createRequestBuilder } from './request.ts';
import { createResultStore, type ResultStore } from './result-store.ts';
import type { ResultRules } from './results.ts';
import { checkSchemaName, deliveryChannel } from './schema.ts';
import { TenantServers } from './tenant-servers.ts';
import { createTroubles, type Trouble } from './troubles.ts';

export interface DeliveryDispatcherOptions extends DeliveryLoaders {
  readonly database: Database;
  /** The schema that `deliveryMigrations` was given. */
  readonly schema: string;
  /** Sends the requests; every connection of it is checked. */
  readonly poster: Poster;
  readonly userAgent: string;
  readonly rules: ResultRules;
  /** For the whole exchange, from the first look-up to the last byte of the answer. */
  readonly timeoutMs: number;
  /** An endpoint that has only failed for this long is switched off; without it, never. */
  readonly disableAfterMs?: number;
  /** How long delivered rows are kept; without it they stay. */
  readonly keepDeliveredMs?: number;
  readonly hooks?: DeliveryHooks;
  /** Where deliveries are counted. */
  readonly metrics?: Omit<DeliveryMetricsDependencies, 'now'>;
  readonly now: () => Date;
  readonly random: () => number;
  readonly onError: (error: unknown) => void;
  /** Lasts while the database is away; otherwise `onError` hears when that begins. */
  readonly outage?: Outage | undefined;
  readonly perEndpointConcurrency?: number;
  readonly totalConcurrency?: number;
  /** From when on a try counts as slow and no longer keeps others waiting. */
  readonly slowMs?: number;
  /** How often rows are looked for that no announcement told of: late retries, and lanes of processes that died. */
  readonly pollMs?: number;
  /** How often rows and parts of the log are removed whose time has run out. */
  readonly sweepMs?: number;
  /** How long a process may be silent before its lanes go to others; one that is killed loses them at once. */
  readonly silenceMs?: number;
  /** An endpoint without work is given back after this long. */
  readonly laneIdleMs?: number;
  /** How long a stop waits for tries that are under way. */
  readonly drainMs?: number;
}

export interface DispatcherStats {
  readonly lanes: number;
  readonly inFlight: number;
  readonly slow: number;
  readonly buffered: number;
  readonly unrecorded: number;
}

export interface DeliveryDispatcher {
  start(): Promise<void>;
  /** Takes no new rows, waits for what is under way, writes it down, and gives the rest back. */
  stop(): Promise<void>;
  /**
   * For rows that this process has just committed: they go out at once, without being read back, and rows of lanes that
   * other processes own are announced to these. Safe beside the queue's own notification. Rows that are not committed
   * must never be offered.
   */
  offer(deliveries: readonly OfferedDelivery[]): void;
  /** Looks for due rows and lanes of dead processes now, instead of at the next poll. */
  poll(): Promise<void>;
  /** Removes rows and parts of the log whose time has run out; done every minute while started. Gives their number. */
  sweep(): Promise<number>;
  stats(): DispatcherStats;
}

const PER_ENDPOINT_CONCURRENCY = 64;
const TOTAL_CONCURRENCY = 256;
const SLOW_MS = 1_000;
const POLL_MS = 5_000;
const SILENCE_MS = 10_000;
const LANE_IDLE_MS = 10_000;
const BEATS_PER_SILENCE = 5;
const SWEEP_MS = 60_000;
/** How long a stop waits for a database that is away. */
const UNWRITTEN_WAIT_MS = 10_000;

/** Runs work again and again with a pause between; errors are told and the next turn comes all the same. */
function repeat(work: () => Promise<unknown>, pauseMs: number, onError: (error: unknown) => void) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  let isStopped = false;
  const schedule = () => {
    if (isStopped) return;
    timer = setTimeout(() => {
      running = work().catch(onError).finally(schedule);
    }, pauseMs);
  };
  schedule();
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await running;
  };
}

function buildRecorder(
  options: DeliveryDispatcherOptions,
  {
    results,
    servers,
    abandoning,
  }: Pick<RecorderOptions, 'servers'> & {
    readonly results: ResultStore;
    readonly abandoning: Abandoning;
  },
  trouble: Trouble,
  loop: () => DispatchLoop,
  count: (results: readonly DeliveryResult[]) => void,
): Recorder {
  return new Recorder({
    database: options.database,
    store: results,
    servers,
    abandoning,
    hooks: options.hooks ?? {},
    now: options.now,
    disableAfterMs: options.disableAfterMs,
    onSettled: (results) => {
      count(results);
      loop().noteSettled(results);
    },
    trouble,
  });
}

/** Sends what the queue holds. Any number of processes may run one on the same tables. */
export function createDeliveryDispatcher(options: DeliveryDispatcherOptions): DeliveryDispatcher {
  const { database, now } = options;
  const troubles = createTroubles(options);
  const troubleOf = troubles.of;
  const looking = troubleOf('look');
  const onError = looking.failed;
  const schema = checkSchemaName(options.schema);
  const servers = new TenantServers({ database, onAway: troubles.lastUntilBack });
  const lanes = createLaneStore(database, schema);
  const owners = createOwnerStore(database, schema);
  const results = createResultStore(database, schema);
  const expiry = createExpiryStore(database, schema);
  const queue = createQueueStore(schema);
  const abandoning = createAbandoning({ schema, now, ...options.rules });
  const pollMs = options.pollMs ?? POLL_MS;
  const silenceMs = options.silenceMs ?? SILENCE_MS;
  const horizonMs = pollMs * 2;
  const count =
    options.metrics &&
    createDeliveryMetrics(
      { ...options.metrics, now },
      { stats: () => stats(), countQueued: (limit) => results.countQueued(limit), onError },
    );
  const recorder = buildRecorder(
    options,
    { results, servers, abandoning },
    troubleOf('results'),
    () => loop,
    count ?? (() => {}),
  );
  const announcer = new Announcer({ send: (message) => queue.notify(database, message), onError });
  const identity = new Identity({
    database,
    store: owners,
    beatMs: silenceMs / BEATS_PER_SILENCE,
    onNamed: () => look(),
    onLost: () => loop.disown(),
    trouble: troubleOf('name'),
  });
  const loop = new DispatchLoop({
    ...options,
    lanes,
    servers,
    results,
    recorder,
    buildRequest: createRequestBuilder(options.userAgent),
    limits: {
      perEndpoint: options.perEndpointConcurrency ?? PER_ENDPOINT_CONCURRENCY,
      total: options.totalConcurrency ?? TOTAL_CONCURRENCY,
    },
    slowMs: Math.min(options.slowMs ?? SLOW_MS, options.timeoutMs / 2),
    horizonMs,
    laneIdleMs: options.laneIdleMs ?? LANE_IDLE_MS,
    announcer,
    onError,
    owner: () => identity.owner(),
  });
  const stops: (() => Promise<unknown>)[] = [];
  let subscription: Subscription | undefined;

  async function poll(): Promise<void> {
    await owners.reap(silenceMs);
    loop.expectRows(await lanes.findDueLanes(new Date(now().getTime() + horizonMs)));
    looking.worked();
  }

  const stats = () => ({ ...loop.stats, unrecorded: recorder.size });

  let looked: Promise<unknown> = Promise.resolve();
  const look = () => {
    looked = Promise.all([looked, poll().catch(onError)]);
  };
  let isStopping = false;
  const mayGoOn = () => !isStopping;
  const empty = () => abandoning.emptyEndpoints(database, { mayGoOn, onError, servers });
  const sweep = () => expiry.expire(now(), { keepDeliveredMs: options.keepDeliveredMs, mayGoOn });

  /** What is under way ends and is written down before the lanes go to others. */
  async function handBack(): Promise<void> {
    await loop.stop(options.drainMs ?? options.timeoutMs);
    await recorder.finish(UNWRITTEN_WAIT_MS);
    await announcer.idle();
    await identity.stop();
  }

  return {
    async start() {
      loop.start();
      subscription = await database.listen(
        deliveryChannel(schema),
        (message) => {
          const announced = readAnnouncement(message);
          if (announced === undefined) look();
          else loop.hear(announced);
        },
        { onReconnect: look },
      );
      try {
        await identity.start();
      } catch (error) {
        await subscription.stop();
        throw error;
      }
      stops.push(repeat(poll, pollMs, onError));
      stops.push(repeat(empty, pollMs, onError));
      stops.push(repeat(sweep, options.sweepMs ?? SWEEP_MS, onError));
    },

    async stop() {
      isStopping = true;
      // Beside each other: a statement of a sweep may last as long as a request that is under way.
      await Promise.all([handBack(), subscription?.stop(), ...stops.map((stop) => stop())]);
      // A look that a message asked for needs the database, which is closed next.
      await looked;
    },

    offer: (deliveries) => loop.offer(deliveries),
    poll,
    sweep,
    stats,
  };
}
