import { randomUUID } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { baseErrors } from './errors.ts';

/*
 * Rate limits that hold over all processes without a round trip per request.
 *
 * The truth is one token bucket per key in the shared store. Each process reports in the background what it spent and
 * learns the level (all keys in one statement, every SYNC_MS while there is something to report). In between it spends
 * only its share: the level it last saw, divided by the number of live processes. A process alone has the whole level.
 * When a burst uses up the share while the level says that there is more, the requests in question wait for one
 * sync that they share (at most WAIT_MS); everything else is decided at once.
 *
 * Bound: shares are promises made from slightly old levels. If one process drains the bucket while the others still
 * hold a share from before, those shares may be spent too: at worst (P - 1) / P of one burst beyond the limit, over all
 * processes together. What was overspent is a debt in the shared bucket and is paid back before anything else passes, so
 * the average rate holds. Without the store every process limits by itself until it is back.
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

export type RateDecision = { allowed: boolean; remaining: number; retryAfterSeconds: number };

export type RateLimit = {
  readonly isOff: boolean;
  take(key: string): RateDecision | Promise<RateDecision>;
  /** Takes one, sets the `RateLimit` headers, and throws 429 `rate_limited` over the limit. Sync unless a sync is due. */
  enforce(key: string, reply: FastifyReply): void | Promise<void>;
};

export type RateLimitsOptions = {
  /** Without a store each process limits by itself. */
  store?: RateStore;
  processId?: string;
  nowMs?: () => number;
  /** Told when the store fails; the limits go on locally. */
  onError?: (error: unknown) => void;
};

type Bucket = {
  key: string;
  policy: CompiledPolicy;
  level: number;
  share: number;
  atMs: number;
  unsynced: number;
};
type CompiledPolicy = {
  name: string;
  ratePerSecond: number;
  burst: number;
  windowSeconds: number;
  header: string;
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
  readonly #onError: (error: unknown) => void;
  readonly #buckets = new Map<string, Bucket>();
  readonly #dirty = new Set<Bucket>();
  readonly #timers: NodeJS.Timeout[] = [];
  #processes = 1;
  #syncing: Promise<void> | undefined;
  #lastSyncMs = Number.NEGATIVE_INFINITY;

  constructor(options: RateLimitsOptions = {}) {
    this.#store = options.store;
    this.#processId = options.processId ?? randomUUID();
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#onError = options.onError ?? (() => {});
    this.#every(HEARTBEAT_MS, () => this.#forgetFull());
    if (this.#store === undefined) return;
    this.#every(SYNC_MS, () => this.#syncWhenDue());
    this.#every(TIDY_MS, () => this.#store?.tidy?.().catch(this.#onError));
  }

  #every(milliseconds: number, work: () => void): void {
    this.#timers.push(setInterval(work, milliseconds).unref());
  }

  /** Tells the store that this process is there; call it before serving, so that shares are right from the start. */
  async start(): Promise<void> {
    await this.sync();
  }

  limit(policy: RatePolicy): RateLimit {
    if (policy.limit === 0) return { isOff: true, take: () => UNLIMITED, enforce: () => {} };
    const windowSeconds = policy.windowSeconds ?? 1;
    const compiled: CompiledPolicy = {
      name: policy.name,
      ratePerSecond: policy.limit / windowSeconds,
      burst: policy.burst ?? policy.limit * 2,
      windowSeconds,
      header: `"${policy.name}";q=${policy.limit};w=${windowSeconds}`,
    };
    const take = (key: string) => this.#take(this.#bucket(compiled, key));
    const enforce = (key: string, reply: FastifyReply): void | Promise<void> => {
      const decision = take(key);
      if (decision instanceof Promise) return decision.then((later) => apply(compiled, later, reply));
      return apply(compiled, decision, reply);
    };
    return { isOff: false, take, enforce };
  }

  #bucket(policy: CompiledPolicy, key: string): Bucket {
    const id = `${policy.name}:${key}`;
    let bucket = this.#buckets.get(id);
    if (bucket !== undefined) return bucket;
    if (this.#buckets.size >= KEYS_MAX) this.#forgetOldest();
    const { burst } = policy;
    bucket = {
      key: id,
      policy,
      level: burst,
      share: burst / this.#processes,
      atMs: this.#nowMs(),
      unsynced: 0,
    };
    this.#buckets.set(id, bucket);
    return bucket;
  }

  #take(bucket: Bucket): RateDecision | Promise<RateDecision> {
    this.#refill(bucket);
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
    if (this.#processes > 1 && bucket.unsynced > bucket.share) this.#syncSoon();
    return { allowed: true, remaining: Math.floor(bucket.level), retryAfterSeconds: 0 };
  }

  async #takeAfterSync(bucket: Bucket): Promise<RateDecision> {
    const deadlineMs = this.#nowMs() + WAIT_MS;
    this.#dirty.add(bucket);
    while (bucket.level >= 1 && bucket.share < 1 && this.#nowMs() < deadlineMs) {
      await Promise.race([this.#syncSoon(), pause(deadlineMs - this.#nowMs())]);
      this.#refill(bucket);
    }
    return bucket.level < 1 ? refusal(bucket) : this.#spend(bucket);
  }

  #refill(bucket: Bucket): void {
    const nowMs = this.#nowMs();
    const gained = ((nowMs - bucket.atMs) / 1000) * bucket.policy.ratePerSecond;
    bucket.atMs = nowMs;
    bucket.level = Math.min(bucket.policy.burst, bucket.level + gained);
    bucket.share = Math.min(bucket.level, bucket.share + gained / this.#processes);
  }

  #syncWhenDue(): void {
    if (this.#dirty.size > 0 || this.#nowMs() - this.#lastSyncMs >= HEARTBEAT_MS) void this.sync();
  }

  async #syncSoon(): Promise<void> {
    if (this.#syncing === undefined) {
      const gapMs = this.#lastSyncMs + SYNC_GAP_MS - this.#nowMs();
      if (gapMs > 0) await pause(gapMs);
    }
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
    const buckets = [...this.#dirty];
    this.#dirty.clear();
    const reported = buckets.map((bucket) => bucket.unsynced);
    const deltas = buckets.map(({ key, policy, unsynced }) => ({
      key,
      used: unsynced,
      ratePerSecond: policy.ratePerSecond,
      burst: policy.burst,
    }));
    try {
      const { levels, processes } = await this.#store.sync(this.#processId, deltas);
      this.#processes = Math.max(1, processes);
      for (const [index, bucket] of buckets.entries()) {
        bucket.unsynced -= reported[index] as number;
        this.#adopt(bucket, levels.get(bucket.key));
      }
    } catch (error) {
      this.#onError(error);
      for (const bucket of buckets) this.#dirty.add(bucket);
    }
  }

  #adopt(bucket: Bucket, level: number | undefined): void {
    if (level === undefined) return;
    bucket.atMs = this.#nowMs();
    bucket.level = Math.min(bucket.policy.burst, level) - bucket.unsynced;
    // Less than one token each would starve everybody while the bucket still has one.
    bucket.share = Math.max(bucket.level / this.#processes, Math.min(1, bucket.level));
  }

  /** A full bucket with nothing to report is the same as none. */
  #forgetFull(): void {
    for (const bucket of this.#buckets.values()) {
      if (bucket.unsynced > 0 || this.#dirty.has(bucket)) continue;
      this.#refill(bucket);
      if (bucket.level >= bucket.policy.burst) this.#buckets.delete(bucket.key);
    }
  }

  #forgetOldest(): void {
    const [oldest] = this.#buckets.values();
    if (oldest === undefined) return;
    this.#buckets.delete(oldest.key);
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    if (this.#syncing !== undefined) await this.#syncing;
    if (this.#dirty.size > 0) await this.sync();
  }
}

function refusal({ level, policy }: Bucket): RateDecision {
  return {
    allowed: false,
    remaining: 0,
    retryAfterSeconds: Math.max(1, Math.ceil((1 - level) / policy.ratePerSecond)),
  };
}

function apply(policy: CompiledPolicy, decision: RateDecision, reply: FastifyReply): void {
  const { allowed, remaining, retryAfterSeconds } = decision;
  reply.header('ratelimit-policy', policy.header);
  reply.header(
    'ratelimit',
    `"${policy.name}";r=${remaining};t=${allowed ? policy.windowSeconds : retryAfterSeconds}`,
  );
  if (!allowed) throw baseErrors.rate_limited({ retryAfterSeconds });
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, milliseconds)));
}
