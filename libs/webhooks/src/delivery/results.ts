import type { DeliveryResult, DeliveryStatus, DueDelivery } from './delivery.ts';
import { decide, type RetryRules, type TryOutcome } from './schedule.ts';

export interface ResultRules extends RetryRules {
  readonly statusWhenAbandoned: DeliveryStatus;
  /** How long dead letters and other rows that were given up are kept; without it they stay. */
  readonly keepUndeliveredMs?: number;
}

export interface FinishedTry {
  readonly row: DueDelivery;
  readonly url: string;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly outcome: TryOutcome;
}

function later(at: Date, ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(at.getTime() + ms);
}

/** What is written down for a try: the decision of the schedule, in the words of the product. */
export function toResult(
  finished: FinishedTry,
  rules: ResultRules,
  now: Date,
  random: () => number,
): DeliveryResult {
  const { row, outcome } = finished;
  const decision = decide(outcome, row, rules, { now, random });
  const shared = {
    tenantId: row.tenantId,
    id: row.id,
    endpointId: row.endpointId,
    eventId: row.eventId,
    tries: row.tries,
    kind: decision.kind,
    url: finished.url,
    attempt: {
      at: finished.startedAt.toISOString(),
      status: outcome.status,
      error: outcome.error,
      duration_ms: Math.round(finished.durationMs),
      ...(outcome.response === undefined ? {} : { response: outcome.response }),
    },
  };
  if (decision.kind === 'retry') {
    return {
      ...shared,
      status: 'pending',
      nextAttemptAt: new Date(now.getTime() + decision.delayMs),
      step: decision.step,
      early: decision.early,
      finishedAt: null,
      expiresAt: null,
    };
  }
  const isDelivered = decision.kind === 'delivered';
  const undelivered = decision.kind === 'gone' ? rules.statusWhenAbandoned : rules.statusWhenExhausted;
  return {
    ...shared,
    status: isDelivered ? 'delivered' : undelivered,
    nextAttemptAt: null,
    step: row.step,
    early: row.early,
    finishedAt: now,
    expiresAt: isDelivered ? null : later(now, rules.keepUndeliveredMs),
    ...(decision.kind === 'gone'
      ? { ifMoved: toResult(finished, { ...rules, disableOnGone: false }, now, random) }
      : {}),
  };
}

/** For a row whose endpoint or event is no more: nothing is sent. */
export function toAbandoned(row: DueDelivery, rules: ResultRules, now: Date): DeliveryResult {
  return {
    ...row,
    kind: 'abandoned',
    status: rules.statusWhenAbandoned,
    attempt: null,
    url: null,
    nextAttemptAt: null,
    finishedAt: now,
    expiresAt: later(now, rules.keepUndeliveredMs),
  };
}
