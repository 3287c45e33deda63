import assert from 'node:assert/strict';
import { isoTime } from '../clock/iso-time.ts';
import type { EventType, PaymentsEvent } from '../events/event.ts';
import { OUTSIDE_DESTINATIONS, OUTSIDE_SOURCES, owedAccount, type Transfer } from '../ledger/transfer.ts';
import { type Attempt, type Payment, toApi } from './payment.ts';
import { type MoneyEffect, type MoveName, nextMove } from './states.ts';

/** What someone wants to change in a payment; the parts that are absent stay as they are. */
export interface Change {
  /** A move of the state table. */
  by?: MoveName;
  /** Replaces the last attempt's fields. */
  attempt?: Partial<Attempt>;
  failure?: NonNullable<Payment['failure']>;
  /** Another rail takes over: a new attempt, and no new timeline entry. */
  reroute?: {
    attempt: Attempt;
    railDecision: Payment['railDecision'];
    feeAmount: number;
    estimatedSettlementAt: Date;
  };
  /** The same rail tries once more: a new attempt, and nothing else that is seen. */
  again?: { attempt: Attempt; estimatedSettlementAt: Date };
  /** It takes longer than was said, and nothing else that is seen changes. */
  estimatedSettlementAt?: Date;
  /** Money was paid out that the source took back: the books show who owes it. */
  owed?: true;
  /** What was owed has come back, from where it had been paid to. */
  repaidBy?: 'source' | 'destination';
}

/** What a change writes, besides the payment itself. */
export interface Changed {
  payment: Payment;
  /** The payment as the API shows it from now on. */
  document: string;
  events: PaymentsEvent[];
  transfer: Transfer | null;
}

export interface ChangeContext {
  /** The organisation's time. */
  at: Date;
  realNow: Date;
  newId: (prefix: string) => string;
}

/**
 * Applies a change to a payment, or answers null where the state table has no such move: a repeated answer of a
 * network, a second worker and a late cancel all end there.
 */
export function changePayment(payment: Payment, change: Change, context: ChangeContext): Changed | null {
  const move = change.by && nextMove(payment.status, change.by);
  if (change.by && !move) return null;
  // A clock that was set free or a slower process may be behind: a timeline never goes back.
  const last = payment.timeline.at(-1);
  assert(last, 'a payment begins with a timeline entry');
  const at = context.at.getTime() < Date.parse(last.timestamp) ? new Date(last.timestamp) : context.at;
  const changed: Payment = {
    ...payment,
    updatedAt: new Date(Math.max(at.getTime(), payment.updatedAt.getTime())),
  };
  if (change.attempt) changed.attempts = replaceLast(payment.attempts, change.attempt);
  if (change.failure) changed.failure = change.failure;
  if (change.reroute) applyReroute(changed, change.reroute);
  if (change.estimatedSettlementAt) changed.estimatedSettlementAt = change.estimatedSettlementAt;
  if (change.again) {
    changed.attempts = [...changed.attempts, change.again.attempt];
    changed.estimatedSettlementAt = change.again.estimatedSettlementAt;
  }
  const events: EventType[] = change.reroute ? ['payment.rerouted'] : [];
  if (move) {
    changed.status = move.to;
    changed.timeline = [...payment.timeline, { status: move.to, timestamp: isoTime(at) }];
    events.push(`payment.${move.to}`);
  } else if (change.owed) {
    // No move tells of it: the payment ended before.
    events.push('payment.owed');
  }
  const document = JSON.stringify(toApi(changed));
  return {
    payment: changed,
    document,
    events: events.map((type) => eventOf(changed, type, document, { ...context, at })),
    transfer: transferFor(changed, { change, money: move?.money ?? null }, { ...context, at }),
  };
}

/**
 * A payment that is returned is undone; where its destination keeps the money, the payment stands and the source owes it.
 */
function transferFor(
  payment: Payment,
  { change, money }: { change: Change; money: MoneyEffect | null },
  context: ChangeContext,
): Transfer | null {
  const who = owedAccount(payment.sourceId);
  if (change.repaidBy) {
    const debitAccount = change.repaidBy === 'source' ? OUTSIDE_SOURCES : OUTSIDE_DESTINATIONS;
    return { ...transferOf(payment, 'repay', context), debitAccount, creditAccount: who };
  }
  if (change.owed && (money === null || money === 'reverse'))
    return { ...transferOf(payment, 'owe', context), debitAccount: who, creditAccount: OUTSIDE_SOURCES };
  return money && transferOf(payment, money, context);
}

function replaceLast(attempts: readonly Attempt[], fields: Partial<Attempt>): Attempt[] {
  const last = attempts.at(-1);
  assert(last, 'a payment has at least one attempt');
  return [...attempts.slice(0, -1), { ...last, ...fields }];
}

function applyReroute(payment: Payment, reroute: NonNullable<Change['reroute']>): void {
  payment.attempts = [...payment.attempts, reroute.attempt];
  payment.railSelected = reroute.attempt.rail;
  payment.railDecision = reroute.railDecision;
  payment.feeAmount = reroute.feeAmount;
  payment.estimatedSettlementAt = reroute.estimatedSettlementAt;
}

export function eventOf(
  payment: Payment,
  type: EventType,
  document: string,
  context: ChangeContext,
): PaymentsEvent {
  return {
    tenantId: payment.tenantId,
    id: context.newId('evt'),
    type,
    subjectId: payment.id,
    data: document,
    occurredAt: context.at,
    createdAt: context.realNow,
  };
}

/** The money of a payment always goes from its source's account to its destination's; undoing it is another kind. */
export function transferOf(
  payment: Payment,
  kind: Transfer['kind'],
  context: Pick<ChangeContext, 'at' | 'newId'>,
): Transfer {
  return {
    tenantId: payment.tenantId,
    id: context.newId('lt'),
    paymentId: payment.id,
    kind,
    rail: payment.railSelected,
    debitAccount: payment.debitAccount,
    creditAccount: payment.creditAccount,
    amount: payment.amount,
    // A payment that completes is paid for; what becomes of it later changes nothing in that.
    fee: kind === 'post' ? payment.feeAmount : 0,
    createdAt: context.at,
  };
}
