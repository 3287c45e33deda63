import { randomUUID } from 'node:crypto';
import type { Database, Subscription } from '@libs/db';
import type { Dispatcher } from 'undici';
import { readAnnouncement } from './announcement.ts';
import {
  type ClaimedDelivery,
  type EndpointRef,
  type EndpointTarget,
  type EventBody,
  type EventRef,
  eventKey,
  laneKey,
} from './delivery.ts';
import { createDispatchStore } from './dispatch-store.ts';
import { Flights } from './flights.ts';
import { type Lane, Lanes } from './lanes.ts';
import { Post } from './post.ts';
import { createQueueStore } from './queue-store.ts';
import { type DeliveryHooks, Recorder } from './recorder.ts';
import { type ResultRules, toAbandoned, toResult } from './results.ts';
import { deliveryChannel } from './schema.ts';
import { createRequestBuilder } from './sender.ts';

export interface DeliveryDispatcherOptions {
  readonly database: Database;
  /** The schema that `deliverySchema` made. */
  readonly schema: string;
  /** Sends the requests; a guarded agent, so that every connection is checked. */
  readonly agent: Dispatcher;
  readonly userAgent: string;
  readonly rules: ResultRules;
  /** For the whole exchange, from the first look-up to the last byte of the answer. */
  readonly timeoutMs: number;
  /** An endpoint that has only failed for this long is switched off; without it, never. */
  readonly disableAfterMs?: number;
  /** Endpoints that are missing in the answer are gone or switched off: their deliveries are abandoned. */
  readonly loadEndpoints: (refs: readonly EndpointRef[]) => Promise<readonly EndpointTarget[]>;
  readonly loadEvents: (refs: readonly EventRef[]) => Promise<readonly EventBody[]>;
  readonly hooks?: DeliveryHooks;
  readonly now: () => Date;
  readonly random: () => number;
  readonly onError: (error: unknown) => void;
  readonly perEndpointConcurrency?: number;
  readonly totalConcurrency?: number;
  /** From when on a try counts as slow and no longer keeps others waiting. */
  readonly slowMs?: number;
  /** How often rows are looked for that no announcement told of: retries and claims of processes that died. */
  readonly pollMs?: number;
  /** How long a process may be silent before its claims are freed. */
  readonly silenceMs?: number;
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
  /** For rows that this process committed just now; other processes' rows are announced by the database. */
  wake(refs: readonly EndpointRef[]): void;
  /** Looks for due rows and freed claims now instead of at the next poll. */
  poll(): Promise<void>;
  /** Deletes rows whose time has run out; done every minute while started. */
  sweep(): Promise<number>;
  stats(): DispatcherStats;
}

const PER_ENDPOINT_CONCURRENCY = 64;
const TOTAL_CONCURRENCY = 256;
const SLOW_MS = 1_000;
const POLL_MS = 5_000;
const SILENCE_MS = 6_000;
const BEATS_PER_SILENCE = 5;
const SWEEP_MS = 60_000;
const BACKOFF_MS = 500;
const UNRECORDED_MAX = 4_000;
/** Lanes that came up empty are asked for their next time together, not one by one. */
const NEXT_DUE_DELAY_MS = 25;

interface ReadyDelivery {
  readonly row: ClaimedDelivery;
  readonly owner: string;
  readonly target: EndpointTarget;
  readonly body: string;
}

export function createDeliveryDispatcher(options: DeliveryDispatcherOptions): DeliveryDispatcher {
  const { database, rules, now, random, onError } = options;
  const store = createDispatchStore(database, options.schema);
  const pollMs = options.pollMs ?? POLL_MS;
  const silenceMs = options.silenceMs ?? SILENCE_MS;
  const lanes = new Lanes<ReadyDelivery>({
    perEndpoint: options.perEndpointConcurrency ?? PER_ENDPOINT_CONCURRENCY,
    total: options.totalConcurrency ?? TOTAL_CONCURRENCY,
  });
  const buildRequest = createRequestBuilder(options.userAgent);
  const recorder = new Recorder({
    database,
    store,
    queue: createQueueStore(options.schema),
    hooks: options.hooks ?? {},
    now,
    statusWhenAbandoned: rules.statusWhenAbandoned,
    disableAfterMs: options.disableAfterMs,
    keepUndeliveredMs: rules.keepUndeliveredMs,
    onError,
  });
  const flightLanes = new WeakMap<object, Lane<ReadyDelivery>>();
  const flights = new Flights({
    timeoutMs: options.timeoutMs,
    slowMs: Math.min(options.slowMs ?? SLOW_MS, options.timeoutMs / 2),
    monotonicMs: () => performance.now(),
    onSlow: (flight) => {
      const lane = flightLanes.get(flight);
      if (lane !== undefined) lanes.noteSlow(lane);
      sendReady();
      pump();
    },
  });

  let owner = '';
  let isRunning = false;
  let isStopping = false;
  let subscription: Subscription | undefined;
  let pumping: Promise<void> | undefined;
  let isPumpAsked = false;
  let pausedUntilMs = 0;
  const restless = new Map<string, EndpointRef>();
  const timers = new Map<string, NodeJS.Timeout>();
  const background = new Set<Promise<unknown>>();

  function setTimer(name: string, delayMs: number, work: () => void): void {
    clearTimeout(timers.get(name));
    timers.set(
      name,
      setTimeout(() => {
        timers.delete(name);
        if (isRunning) work();
      }, delayMs),
    );
  }

  function inBackground(work: Promise<unknown>): void {
    const watched = work.catch(onError).finally(() => background.delete(watched));
    background.add(watched);
  }
