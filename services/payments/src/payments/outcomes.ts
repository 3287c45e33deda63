import assert from 'node:assert/strict';
import { isoTime } from '../clock/iso-time.ts';
import type { RailOutcome } from '../rails/rail.ts';
import type { Decided } from '../routing/decision.ts';
import type { Change } from './moves.ts';
import type { Attempt, Payment } from './payment.ts';
import { finalStatuses, openStatuses } from './states.ts';

export interface OutcomeContext {
  newId: (prefix: string) => string;
  /** Another rail for a payment that one refused, or null where none can carry it. */
  decideAgain: (payment: Payment) => Decided | null;
}

/**
 * What an outcome of a rail means for its payment: a change, or null where it comes too late, twice, or for an
 * attempt that another one replaced.
 */
export function changeFor(payment: Payment, outcome: RailOutcome, context: OutcomeContext): Change | null {
  const attempt = payment.attempts.at(-1);
  assert(attempt, 'a payment has at least one attempt');
  if (attempt.id !== outcome.attemptId) return null;
  switch (outcome.kind) {
    case 'submitted':
      return submitted(payment, attempt, outcome);
    case 'settled':
      return { by: 'settled', attempt: { status: 'settled', settled_at: isoTime(outcome.at) } };
    case 'unknown':
      return attempt.status === 'submitted' ? { attempt: { status: 'unknown' } } : null;
    case 'rejected':
      return rejected(payment, outcome, context);
    case 'returned':
      return returned(payment, attempt, outcome);
    case 'owed':
      return finalStatuses.includes(payment.status) ? { owed: true } : null;
    case 'repaid':
      return finalStatuses.includes(payment.status) ? { repaidBy: outcome.by } : null;
    case 'delayed':
      return delayed(payment, attempt, outcome);
  }
}

/** A reference that the network never took is shown no longer; where the payment's first entry is under way, its own stays. */
function delayed(
  payment: Payment,
  attempt: Attempt,
  { settlesAt, again }: Extract<RailOutcome, { kind: 'delayed' }>,
): Change | null {
  if (!openStatuses.includes(payment.status)) return null;
  const leavesAgain = again !== null && attempt.network_reference === again;
  return {
    estimatedSettlementAt: settlesAt,
    ...(leavesAgain && { attempt: { status: 'waiting', network_reference: null, submitted_at: null } }),
  };
}

function returned(
  payment: Payment,
  attempt: Attempt,
  { networkCode, code, detail, again, owed }: Extract<RailOutcome, { kind: 'returned' }>,
): Change {
  const ended: Partial<Attempt> = { status: 'returned', code: networkCode, detail };
  if (again && payment.status === 'processing') {
    const next = newAttempt(again.attemptId, attempt.rail);
    return { attempt: ended, again: { attempt: next, estimatedSettlementAt: again.settlesAt } };
  }
  const failure = { code, network_code: networkCode, detail };
  return { by: 'returned', attempt: ended, failure, ...(owed && { owed }) };
}

function submitted(
  payment: Payment,
  attempt: Attempt,
  outcome: Extract<RailOutcome, { kind: 'submitted' }>,
): Change | null {
  if (attempt.status !== 'waiting') return null;
  const fields: Partial<Attempt> = {
    status: 'submitted',
    network_reference: outcome.reference,
    submitted_at: isoTime(outcome.at),
  };
  // A payment that was rerouted is processing already: only its attempt moves on.
  return payment.status === 'pending' ? { by: 'submitted', attempt: fields } : { attempt: fields };
}

function rejected(
  payment: Payment,
  outcome: Extract<RailOutcome, { kind: 'rejected' }>,
  context: OutcomeContext,
): Change | null {
  if (payment.status !== 'pending' && payment.status !== 'processing') return null;
  const attempt: Partial<Attempt> = { status: 'rejected', code: outcome.networkCode, detail: outcome.detail };
  const mayReroute = payment.rail === 'auto' && payment.fallback && outcome.mayWorkElsewhere;
  const decided = mayReroute ? context.decideAgain(payment) : null;
  if (decided) {
    return {
      attempt,
      reroute: {
        attempt: newAttempt(context.newId('att'), decided.decision.chosen),
        railDecision: decided.decision,
        feeAmount: decided.option.fee,
        estimatedSettlementAt: decided.option.settlesAt,
      },
    };
  }
  const failure = { code: outcome.code, network_code: outcome.networkCode, detail: outcome.detail };
  return { by: 'refused', attempt, failure };
}

export function newAttempt(id: string, rail: Attempt['rail']): Attempt {
  return {
    id,
    rail,
    status: 'waiting',
    network_reference: null,
    submitted_at: null,
    settled_at: null,
    code: null,
    detail: null,
  };
}
