import { randomUUID } from 'node:crypto';
import { baseErrors, type Outage } from '@libs/runtime';
import type { FastifyReply } from 'fastify';
import {
  adopt,
  type Bucket,
  type CompiledPolicy,
  giveBackHeld,
  newBucket,
  permission,
  type RateDecision,
  refill,
  refusal,
  reportOf,
} from './rate-bucket.ts';

/*
 * Rate limits that hold over all processes without a round trip per request.
 *
 * The truth is one token bucket per key in the shared store. Each process reports in the background what it spent and
 * learns the level (all keys in one statement, every SYNC_MS while there is something to report). In between it spends
 * only a share of the level it last saw; a process alone has the whole. When a burst uses up the share while the level
 * says that there is more, the requests in question wait for one sync that they share (at most WAIT_MS) and that
 * charges them exactly; all others are decided at once.
 *
 * Bound: shares come from slightly old levels. If one process drains the bucket while the others still hold a share
 * from before, those may be spent too: at worst half a burst beyond the limit, over all processes together. What was
 * overspent is a debt in the shared bucket and is paid back before anything else passes, so the average rate holds.
 * Without the store every process limits by itself until it is back.
 */
const SYNC_MS = 200;
const HEARTBEAT_MS = 1_000;
const TIDY_MS = 60_000;
const WAIT_MS = 100;
const SYNC_GAP_MS = 4;
const KEYS_MAX = 100_000;

export type RateDelta = { key: string; used: number; ratePerSecond: number; burst: number };

export type RateStore = {
  /** Takes `used` tokens from each key's bucket and answers the levels after that, and how many processes are alive. */
  sync(
    processId: string,
    deltas: readonly RateDelta[],
  ): Promise<{ levels: Map<string, number>; processes: number }>;
  /** Forgets buckets that are full again. */
  tidy?(): Promise<void>;
};

export type RatePolicy = {
  /** In the headers and in the keys of the store; unique among the policies of one service. */
  name: string;
  /** Requests per window; 0 switches the limit off. */
  limit: number;
  windowSeconds?: number;
  /** How many may come at once; twice the limit by default. */
  burst?: number;
};

export type RateLimit = {
  readonly isOff: boolean;
  /** Decides at once, except where a burst has to ask the store first. */
  take(key: string): RateDecision | Promise<RateDecision>;
  /** Takes one, sets the `RateLimit` headers, and throws 429 `rate_limited` beyond the limit. */
  enforce(key: string, reply: FastifyReply): void | Promise<void>;
};

export type RateLimitsOptions = {
  /** Without a store each process limits by itself. */
  store?: RateStore;
  processId?: string;
  nowMs?: () => number;
  /** Lasts while the store fails; the limits go on locally. */
  outage?: Outage;
};

const UNLIMITED: RateDecision = Object.freeze({
  allowed: true,
  remaining: Number.MAX_SAFE_INTEGER,
  retryAfterSeconds: 0,
});

export class RateLimits {
  readonly #store: RateStore | undefined;
  readonly #processId: string;
  readonly #nowMs: () => number;
  readonly #outage: Outage | undefined;
  readonly #buckets = new Map<string, Bucket>();
  readonly #dirty = new Set<Bucket>();
  readonly #timers: NodeJS.Timeout[] = [];
  #processes = 1;
  #syncing: Promise<void> | undefined;
  #soon: Promise<void> | undefined;
  #lastSyncMs = Number.NEGATIVE_INFINITY;

  constructor(options: RateLimitsOptions = {}) {
    this.#store = options.store;
    this.#processId = options.processId ?? randomUUID();
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#outage = options.outage;
    this.#every(HEARTBEAT_MS, () => this.#forgetFull());
    if (this.#store === undefined) return;
    this.#every(SYNC_MS, () => this.#syncWhenDue());
    this.#every(TIDY_MS, () => void this.#tidy());
  }

  #every(milliseconds: number, work: () => void): void {
    this.#timers.push(setInterval(work, milliseconds).unref());
  }

  /** How many processes share the limits, as of the last sync. */
  get processes(): number {
    return this.#processes;
  }

  /** Tells the store that this process is there; call it before serving, so that shares are right from the start. */
  async start(): Promise<void> {
    await this.sync();
  }

  limit(policy: RatePolicy): RateLimit {
    if (policy.limit === 0) return { isOff: true, take: () => UNLIMITED, enforce: () => {} };
    const compiled = compilePolicy(policy);
    const take = (key: string): RateDecision | Promise<RateDecision> =>
      this.#take(this.#bucket(compiled, key));
    const enforce = (key: string, reply: FastifyReply): void | Promise<void> => {
      const decision = take(key);
      if (decision instanceof Promise) return decision.then((later) => apply(compiled, later, reply));
      return apply(compiled, decision, reply);
    };
    return { isOff: false, take, enforce };
  }

  #now(): { nowMs: number; processes: number } {
    return { nowMs: this.#nowMs(), processes: this.#processes };
  }

  #bucket(policy: CompiledPolicy, key: string): Bucket {
    const id = `${policy.name}:${key}`;
    let bucket = this.#buckets.get(id);
    if (bucket !== undefined) return bucket;
    if (this.#buckets.size >= KEYS_MAX) this.#forgetOldest();
    bucket = newBucket(id, policy, this.#now());
    this.#buckets.set(id, bucket);
    return bucket;
  }

  #take(bucket: Bucket): RateDecision | Promise<RateDecision> {
    refill(bucket, this.#now());
    if (bucket.level < 1) return refusal(bucket);
    if (this.#processes === 1 || bucket.share >= 1) return this.#spend(bucket);
    return this.#takeAfterSync(bucket);
  }

  #spend(bucket: Bucket): RateDecision {
    bucket.level--;
    bucket.share--;
    bucket.unsynced++;
    this.#dirty.add(bucket);
    // Ask early, so that the next share is there before this one is gone.
    if (this.#processes > 1 && bucket.unsynced > bucket.share) void this.#syncSoon();
    return permission(bucket);
  }

  async #takeAfterSync(bucket: Bucket): Promise<RateDecision> {
    if (bucket.level - bucket.waiting < 1) return refusal(bucket);
    const deadline = AbortSignal.timeout(WAIT_MS);
    const timedOut = new Promise<void>((resolve) => deadline.addEventListener('abort', () => resolve()));
    bucket.waiting++;
    try {
      while (!deadline.aborted) {
        this.#dirty.add(bucket);
        await Promise.race([this.#syncSoon(), timedOut]);
        refill(bucket, this.#now());
        if (bucket.held >= 1) {
          bucket.held--;
          return permission(bucket);
        }
        if (bucket.level < 1) return refusal(bucket);
      }
      return this.#spend(bucket);
    } finally {
      bucket.waiting--;
      if (bucket.waiting === 0 && giveBackHeld(bucket)) this.#dirty.add(bucket);
    }
  }

  #syncWhenDue(): void {
    if (this.#dirty.size > 0 || this.#nowMs() - this.#lastSyncMs >= HEARTBEAT_MS) void this.sync();
  }

  /** One sync for all who ask for it, a little apart from the one before. */
  #syncSoon(): Promise<void> {
    this.#soon ??= this.#syncAfterGap().finally(() => {
      this.#soon = undefined;
    });
    return this.#soon;
  }

  async #syncAfterGap(): Promise<void> {
    // What is under way may have left before the caller spent, so it does not count.
    if (this.#syncing !== undefined) await this.#syncing;
    const gapMs = this.#lastSyncMs + SYNC_GAP_MS - this.#nowMs();
    if (gapMs > 0) await new Promise((resolve) => setTimeout(resolve, gapMs));
    await this.sync();
  }

  /** Reports what was spent and takes over the shared levels. One at a time; never rejects. */
  sync(): Promise<void> {
    this.#syncing ??= this.#syncNow().finally(() => {
      this.#lastSyncMs = this.#nowMs();
      this.#syncing = undefined;
    });
    return this.#syncing;
  }

  async #syncNow(): Promise<void> {
    if (this.#store === undefined) return;
    // One that was forgotten meanwhile is nobody's: its key may have another by now, and a statement takes each key once.
    const known = [...this.#dirty].filter((bucket) => this.#buckets.get(bucket.key) === bucket);
    const reports = known.map(reportOf);
    this.#dirty.clear();
    const deltas = reports.map(({ bucket: { key, policy }, spent, asked }) => ({
      key,
      used: spent + asked,
      ratePerSecond: policy.ratePerSecond,
      burst: policy.burst,
    }));
    try {
      const { levels, processes } = await this.#store.sync(this.#processId, deltas);
      this.#processes = Math.max(1, processes);
      this.#outage?.worked('sync');
      for (const report of reports) {
        const { bucket } = report;
        const isOwed = adopt(report, levels.get(bucket.key) ?? 0, this.#now());
        // Whoever waited may have gone on meanwhile, and what was charged for them is nobody's.
        const isUnclaimed = bucket.waiting === 0 && giveBackHeld(bucket);
        if (isOwed || isUnclaimed) this.#dirty.add(bucket);
      }
    } catch (error) {
      this.#outage?.failed(error, 'sync');
      for (const { bucket } of reports) this.#dirty.add(bucket);
    }
  }

  async #tidy(): Promise<void> {
    try {
      await this.#store?.tidy?.();
      this.#outage?.worked('tidy');
    } catch (error) {
      this.#outage?.failed(error, 'tidy');
    }
  }

  /** A full bucket with nothing to report is the same as none. */
  #forgetFull(): void {
    const now = this.#now();
    for (const bucket of this.#buckets.values()) {
      if (bucket.unsynced !== 0 || bucket.waiting > 0 || this.#dirty.has(bucket)) continue;
      refill(bucket, now);
      if (bucket.level >= bucket.policy.burst) this.#buckets.delete(bucket.key);
    }
  }

  #forgetOldest(): void {
    const [oldest] = this.#buckets.values();
    if (oldest === undefined) return;
    this.#buckets.delete(oldest.key);
    this.#dirty.delete(oldest);
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    if (this.#syncing !== undefined) await this.#syncing;
    if (this.#dirty.size > 0) await this.sync();
  }
}

function compilePolicy(policy: RatePolicy): CompiledPolicy {
  const windowSeconds = policy.windowSeconds ?? 1;
  return {
    name: policy.name,
    ratePerSecond: policy.limit / windowSeconds,
    burst: policy.burst ?? policy.limit * 2,
    windowSeconds,
    header: `"${policy.name}";q=${policy.limit};w=${windowSeconds}`,
  };
}

function apply(policy: CompiledPolicy, decision: RateDecision, reply: FastifyReply): void {
  const { allowed, remaining, retryAfterSeconds } = decision;
  const seconds = allowed ? policy.windowSeconds : retryAfterSeconds;
  reply.header('ratelimit-policy', policy.header);
  reply.header('ratelimit', `"${policy.name}";r=${remaining};t=${seconds}`);
  if (!allowed) throw baseErrors.rate_limited({ retryAfterSeconds });
}
