import assert from 'node:assert/strict';
import type { NewJob } from '@libs/jobs';
import type { Obstacle, Option } from '../../../routing/decision.ts';
import type { Mode } from '../../../tenant.ts';
import type { Carrier, RailRequest, RailSubmission } from '../../rail.ts';
import { insertEntries } from '../entries/entries-store.ts';
import type { AchEntry } from '../entries/entry.ts';
import { followsClock, scopeOf } from '../entries/scope.ts';
import { Forecasts, type LegPlan, type Pace, timesOf } from '../schedule/schedule.ts';
import { isPaidAsSameDay } from '../schedule/terms.ts';
import { wakeUp } from '../work/jobs.ts';

export interface AchCarrierDependencies {
  pace: Pace;
  /** Whether there is a bank to send files to. */
  isConfigured: (mode: Mode) => boolean;
}

/** Files of many payments that leave at set times of the day and settle hours or a day later. */
export function createAchCarrier(deps: AchCarrierDependencies): Carrier {
  const { pace } = deps;
  const { feeCents, sameDayFeeCents, sameDayAmountMaxCents } = pace.terms;
  const forecasts = new Forecasts(pace.terms);

  function optionsFor({ amount, at, source, destination }: RailRequest): Option[] {
    const legs = legsBetween(source, destination);
    const { settlesAt } = forecasts.at(at, { legs, sameDay: false });
    const standard: Option = { fee: feeCents, settlesAt, sameDay: false };
    if (amount > sameDayAmountMaxCents) return [standard];
    const hurried = forecasts.at(at, { legs, sameDay: true });
    // Where no leg gets a window of the same day, nothing is gained.
    if (hurried.settlesAt >= settlesAt) return [standard];
    return [standard, { fee: sameDayFeeCents, settlesAt: hurried.settlesAt, sameDay: true }];
  }

  return {
    id: 'ach',

    possible(request) {
      const obstacles = obstaclesTo(request, deps);
      return { rail: 'ach', obstacles, options: obstacles.length > 0 ? [] : optionsFor(request) };
    },

    async submit(tx, submissions) {
      const entries = submissions.map((submission) =>
        firstEntry(submission, isPaidAsSameDay(submission.payment, pace.terms), pace),
      );
      await insertEntries(tx, entries);
      return { outcomes: [], jobs: wakeUpsFor(entries) };
    },
  };
}

function legsBetween(source: { type: string }, destination: { type: string }): LegPlan {
  if (source.type === 'balance') return 'credit';
  return destination.type === 'balance' ? 'debit' : 'debit_then_credit';
}

function obstaclesTo(request: RailRequest, { pace, isConfigured }: AchCarrierDependencies): Obstacle[] {
  const { source, destination, amount, mode } = request;
  const obstacles: Obstacle[] = [];
  if (source.type === 'balance' && destination.type === 'balance') obstacles.push('not_between_balances');
  if (source.type !== 'balance' && !source.railsSend.includes('ach')) obstacles.push('source_cannot_send');
  if (destination.type !== 'balance' && !destination.railsReceive.includes('ach'))
    obstacles.push('destination_cannot_receive');
  if (amount > pace.terms.amountMaxCents) obstacles.push('amount_over_limit');
  if (!isConfigured(mode)) obstacles.push('not_configured');
  return obstacles;
}

/**
 * The debit where the source is outside, else the credit. It takes the window of the time at which the payment was
 * accepted, also when the clock has been moved past it: that move shall carry the payment with it.
 */
function firstEntry(submission: RailSubmission, sameDay: boolean, pace: Pace): AchEntry {
  const { payment, attemptId, source, destination, acceptedAt, clock } = submission;
  assert(source.type !== 'balance' || destination.type !== 'balance', 'ACH moves money outside');
  const scope = scopeOf(payment.tenantId, clock);
  const legs = legsBetween(source, destination);
  const leg = source.type === 'balance' ? 'credit' : 'debit';
  return {
    tenantId: payment.tenantId,
    paymentId: payment.id,
    attemptId,
    leg,
    scope,
    state: 'queued',
    amount: payment.amount,
    presentment: 0,
    sameDay,
    ...timesOf({ scope, from: acceptedAt, amount: payment.amount, sameDay, leg, legs }, pace),
    sentAs: null,
    returnCode: null,
  };
}

/**
 * A clock may be moved while this is being written, so its scope is looked at again as soon as it is: that look reads
 * the clock anew and sees both.
 */
function wakeUpsFor(entries: readonly AchEntry[]): NewJob[] {
  const earliest = new Map<string, Date>();
  for (const { scope, dueAt } of entries) {
    const known = earliest.get(scope);
    if (!known || dueAt < known) earliest.set(scope, dueAt);
  }
  return [...earliest].map(([scope, dueAt]) => wakeUp(scope, followsClock(scope) ? undefined : dueAt));
}
