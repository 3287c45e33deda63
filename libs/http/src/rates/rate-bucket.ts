// One key's bucket as one process sees it. Pure arithmetic; rate-limit.ts knows when to do what.

export type CompiledPolicy = {
  readonly name: string;
  readonly ratePerSecond: number;
  readonly burst: number;
  readonly windowSeconds: number;
  readonly header: string;
};

export type Bucket = {
  readonly key: string;
  readonly policy: CompiledPolicy;
  /** The shared level as last seen, less what was spent here since, plus what time brought. */
  level: number;
  /** What may be spent of it before the next sync. */
  share: number;
  atMs: number;
  /** Spent here and not charged in the store yet; negative when the store owes us. */
  unsynced: number;
  /** Requests that wait for a sync, and tokens charged for them that they have not picked up yet. */
  waiting: number;
  held: number;
};

export type RateDecision = { allowed: boolean; remaining: number; retryAfterSeconds: number };

/** What a bucket was reported with: what was spent, and what was asked for on behalf of the requests that wait. */
export type Report = { bucket: Bucket; spent: number; asked: number };

/** Half of an even part, so that what all processes have promised themselves stays below what is there. */
function shareOf(level: number, processes: number): number {
  return processes === 1 ? level : level / (2 * processes);
}

export function newBucket(
  key: string,
  policy: CompiledPolicy,
  at: { nowMs: number; processes: number },
): Bucket {
  const { burst } = policy;
  const share = shareOf(burst, at.processes);
  return { key, policy, level: burst, share, atMs: at.nowMs, unsynced: 0, waiting: 0, held: 0 };
}

export function refill(bucket: Bucket, at: { nowMs: number; processes: number }): void {
  const gained = ((at.nowMs - bucket.atMs) / 1000) * bucket.policy.ratePerSecond;
  bucket.atMs = at.nowMs;
  bucket.level = Math.min(bucket.policy.burst, bucket.level + gained);
  bucket.share = Math.min(bucket.level, bucket.share + shareOf(gained, at.processes));
}

export function reportOf(bucket: Bucket): Report {
  const asked = Math.max(0, Math.min(bucket.waiting - bucket.held, Math.floor(bucket.level)));
  return { bucket, spent: bucket.unsynced, asked };
}

/** Takes over the shared level. Answers whether the store is owed a refund, which the next sync must bring. */
export function adopt(report: Report, level: number, at: { nowMs: number; processes: number }): boolean {
  const { bucket, spent, asked } = report;
  // Below zero, more was asked for than was there: the missing part is not handed out.
  const granted = Math.max(0, asked - Math.ceil(Math.max(0, -level)));
  const refund = asked - granted;
  bucket.held += granted;
  bucket.unsynced -= spent + refund;
  bucket.atMs = at.nowMs;
  bucket.level = Math.min(bucket.policy.burst, level - bucket.unsynced);
  bucket.share = shareOf(bucket.level, at.processes);
  return refund > 0;
}

/** Tokens that were charged for requests which did not wait long enough to take them. */
export function giveBackHeld(bucket: Bucket): boolean {
  if (bucket.held === 0) return false;
  bucket.unsynced -= bucket.held;
  bucket.level += bucket.held;
  bucket.held = 0;
  return true;
}

export function permission(bucket: Bucket): RateDecision {
  return { allowed: true, remaining: Math.max(0, Math.floor(bucket.level)), retryAfterSeconds: 0 };
}

export function refusal({ level, policy }: Bucket): RateDecision {
  const seconds = Math.ceil((1 - level) / policy.ratePerSecond);
  return { allowed: false, remaining: 0, retryAfterSeconds: Math.max(1, seconds) };
}
