import { retryAfterMs } from '@libs/egress';
import type { DeliveryStatus } from './delivery.ts';

/** What the products differ in. */
export interface RetryRules {
  /** Delays before the second, third, … try; when they are used up the delivery is given up. */
  readonly retryDelaysMs: readonly number[];
  /** Part of a delay that is added at random, 0 to 1: retries spread out, and none comes before its time. */
  readonly jitter: number;
  readonly honourRetryAfter: boolean;
  /** 410 means that the receiver wants no more: the endpoint is switched off. */
  readonly disableOnGone: boolean;
  readonly statusWhenExhausted: DeliveryStatus;
}

export interface TryOutcome {
  readonly status: number | null;
  readonly error: string | null;
  readonly retryAfter: string | null;
  /** How the answer begins, where it is no success and has a body. */
  readonly response?: string;
}

export interface ScheduleState {
  readonly step: number;
  readonly early: boolean;
}

export type Decision =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'exhausted' }
  | { readonly kind: 'retry'; readonly delayMs: number; readonly step: number; readonly early: boolean };

const RETRY_AFTER_MS_MIN = 1_000;
const RETRY_AFTER_MS_MAX = 24 * 60 * 60 * 1_000;

function isDelivered(outcome: TryOutcome): boolean {
  return outcome.error === null && outcome.status !== null && outcome.status >= 200 && outcome.status < 300;
}

/** Held between one second and one day. */
export function parseRetryAfterMs(text: string, now: Date): number | undefined {
  const ms = retryAfterMs(text, now);
  if (ms === undefined) return undefined;
  return Math.min(Math.max(ms, RETRY_AFTER_MS_MIN), RETRY_AFTER_MS_MAX);
}

/**
 * A receiver may ask to wait longer than the schedule, and is obeyed. It may also ask for an earlier try: that is given
 * once per step without using the step up, so a proxy that answers "try in a second" to everything cannot burn through
 * days of retries in a minute.
 */
export function decide(
  outcome: TryOutcome,
  state: ScheduleState,
  rules: RetryRules,
  clock: { readonly now: Date; readonly random: () => number },
): Decision {
  if (isDelivered(outcome)) return { kind: 'delivered' };
  if (rules.disableOnGone && outcome.status === 410) return { kind: 'gone' };
  const scheduledMs = rules.retryDelaysMs[state.step];
  if (scheduledMs === undefined) return { kind: 'exhausted' };
  const askedMs =
    rules.honourRetryAfter && outcome.retryAfter !== null
      ? parseRetryAfterMs(outcome.retryAfter, clock.now)
      : undefined;
  if (askedMs !== undefined && askedMs < scheduledMs && !state.early) {
    return { kind: 'retry', delayMs: askedMs, step: state.step, early: true };
  }
  const spreadMs = scheduledMs * (1 + rules.jitter * clock.random());
  const delayMs = Math.round(Math.max(spreadMs, askedMs ?? 0));
  return { kind: 'retry', delayMs, step: state.step + 1, early: false };
}
