import { describe, expect, test } from 'vitest';
import type { RailOutcome } from '../rails/rail.ts';
import type { Decided } from '../routing/decision.ts';
import { changePayment } from './moves.ts';
import { changeFor, newAttempt } from './outcomes.ts';
import type { Payment } from './payment.ts';
import { paymentStatuses } from './states.ts';
import { aPayment } from './test/a-payment.ts';

const at = new Date('2026-11-16T09:30:00.000Z');
const toAch: Decided = {
  decision: { prefer: 'balanced', chosen: 'ach', candidates: [] },
  option: { fee: 20, settlesAt: new Date('2026-11-17T13:30:00.000Z'), sameDay: false },
};
const refusal = { networkCode: 'X1', code: 'x', detail: 'No.' };

type Told<Outcome = RailOutcome> = Outcome extends RailOutcome
  ? Omit<Outcome, 'tenantId' | 'paymentId' | 'attemptId'> & { attemptId?: string }
  : never;

function changeOf(payment: Payment, told: Told) {
  const outcome = { tenantId: payment.tenantId, paymentId: payment.id, attemptId: 'att_1', ...told };
  return changeFor(payment, outcome as RailOutcome, { newId: () => 'att_2', decideAgain: () => toAch });
}

const changes = (payment: Payment, told: Told) => {
  const change = changeOf(payment, told);
  return (
    change && changePayment(payment, change, { at, realNow: new Date(0), newId: (prefix) => `${prefix}_new` })
  );
};

const submitted = { ...newAttempt('att_1', 'rtp'), status: 'submitted' as const };
const processing = aPayment({ status: 'processing', attempts: [submitted] });
const rejected = { kind: 'rejected', ...refusal, mayWorkElsewhere: true } as const;

describe('[P-4.11] an outcome of a rail', () => {
  test.each<Told>([
    { kind: 'submitted', reference: 'r', at },
    { kind: 'settled', at },
    { kind: 'unknown' },
    rejected,
    { kind: 'returned', ...refusal },
    { kind: 'owed', ...refusal },
    { kind: 'repaid', by: 'source' },
    { kind: 'delayed', settlesAt: at, again: null },
  ])('of an attempt that another one replaced changes nothing: %j', (told) => {
    const rerouted = aPayment({ attempts: [submitted, newAttempt('att_2', 'ach')] });
    expect(changeOf(rerouted, told)).toBeNull();
  });

  test('that the attempt was handed over counts once, and begins the payment or only its next attempt', () => {
    const told: Told = { kind: 'submitted', reference: 'ref', at };
    const attempt = { status: 'submitted', network_reference: 'ref', submitted_at: at.toISOString() };
    expect(changeOf(aPayment(), told)).toEqual({ by: 'submitted', attempt });
    expect(changeOf(aPayment({ status: 'processing' }), told)).toEqual({ attempt });
    expect(changeOf(processing, told)).toBeNull();
  });

  test('that it takes longer moves the estimate of what is open, and drops a reference that leaves again', () => {
    const attempt = { ...submitted, network_reference: 'ref' };
    const delayed = (again: string | null): Told => ({ kind: 'delayed', settlesAt: at, again });
    const underWay = aPayment({ status: 'processing', attempts: [attempt] });
    const moved = { estimatedSettlementAt: at };
    expect(changeOf(underWay, delayed(null))).toEqual(moved);
    expect(changeOf(underWay, delayed('another'))).toEqual(moved);
    const anew = { status: 'waiting', network_reference: null, submitted_at: null };
    expect(changeOf(underWay, delayed('ref'))).toEqual({ ...moved, attempt: anew });
    expect(changes(underWay, delayed('ref'))).toMatchObject({ payment: moved, events: [], transfer: null });
    expect(changeOf(aPayment({ status: 'completed' }), delayed(null))).toBeNull();
  });

  test('that nobody knows it is noted of an attempt under way, and of no other', () => {
    expect(changeOf(processing, { kind: 'unknown' })).toEqual({ attempt: { status: 'unknown' } });
    expect(changeOf(aPayment(), { kind: 'unknown' })).toBeNull();
    const settled = aPayment({ status: 'completed', attempts: [{ ...submitted, status: 'settled' }] });
    expect(changeOf(settled, { kind: 'unknown' })).toBeNull();
  });

  test('settles what is under way and nothing else', () => {
    const told: Told = { kind: 'settled', at };
    expect(changes(processing, told)?.payment).toMatchObject({
      status: 'completed',
      attempts: [{ status: 'settled', settled_at: at.toISOString() }],
    });
    for (const status of paymentStatuses)
      if (status !== 'processing') expect(changes(aPayment({ status }), told)).toBeNull();
  });
});

describe('[P-4.14] a refusal', () => {
  test('sends a payment on by another rail, which brings its own price and time', () => {
    for (const payment of [aPayment(), processing]) {
      const changed = changes(payment, rejected);
      expect(changed).toMatchObject({
        payment: {
          status: payment.status,
          railSelected: 'ach',
          railDecision: toAch.decision,
          feeAmount: 20,
          estimatedSettlementAt: toAch.option.settlesAt,
          timeline: payment.timeline,
          failure: null,
          attempts: [
            { id: 'att_1', rail: 'rtp', status: 'rejected', code: 'X1', detail: 'No.' },
            newAttempt('att_2', 'ach'),
          ],
        },
        transfer: null,
      });
      expect(changed?.events.map(({ type }) => type)).toEqual(['payment.rerouted']);
    }
  });

  test.each<[string, Partial<Payment>, boolean]>([
    ['of a rail that was asked for', { rail: 'rtp' }, true],
    ['without a fallback', { fallback: false }, true],
    ['for a reason that holds on every rail', {}, false],
  ])('%s fails the payment', (_why, payment, mayWorkElsewhere) => {
    for (const one of [aPayment(payment), { ...processing, ...payment }]) {
      expect(changes(one, { ...rejected, mayWorkElsewhere })).toMatchObject({
        payment: {
          status: 'failed',
          failure: { code: 'x', network_code: 'X1', detail: 'No.' },
          attempts: [{ status: 'rejected' }],
        },
        transfer: { kind: 'release', amount: 1_000, fee: 0 },
      });
    }
  });

  test('of a payment that has ended changes nothing, also where another rail could carry it', () => {
    for (const status of ['completed', 'failed', 'canceled', 'returned'] as const)
      expect(changeOf({ ...processing, status }, rejected)).toBeNull();
  });
});

describe('a return', () => {
  const again = { attemptId: 'att_2', settlesAt: new Date('2026-11-20T13:30:00.000Z') };

  test('[P-5.18] of a payment under way may be followed by another attempt on the same rail', () => {
    const changed = changes(processing, { kind: 'returned', ...refusal, again });
    expect(changed).toMatchObject({
      payment: {
        status: 'processing',
        failure: null,
        estimatedSettlementAt: again.settlesAt,
        attempts: [{ status: 'returned', code: 'X1', detail: 'No.' }, newAttempt('att_2', 'rtp')],
      },
      events: [],
      transfer: null,
    });
  });

  test('[P-5.18] of a completed one never is', () => {
    const completed = { ...processing, status: 'completed' as const };
    expect(changes(completed, { kind: 'returned', ...refusal, again })).toMatchObject({
      payment: { status: 'returned', failure: { network_code: 'X1' }, attempts: [{ status: 'returned' }] },
      transfer: { kind: 'reverse', debitAccount: 'pm_balance', fee: 0 },
    });
  });

  test('[P-5.12] of what the destination keeps leaves it owed by the source, instead of undoing the payment', () => {
    const completed = { ...processing, status: 'completed' as const };
    const changed = changes(completed, { kind: 'returned', ...refusal, owed: true });
    expect(changed).toMatchObject({
      payment: { status: 'returned' },
      transfer: { kind: 'owe', debitAccount: 'owed_pm_balance', creditAccount: 'outside_sources' },
    });
    expect(changed?.events.map(({ type }) => type)).toEqual(['payment.returned']);
    // Before it completes nothing was paid out, whatever the rail believes: the hold must go.
    expect(changes(processing, { kind: 'returned', ...refusal, owed: true })).toMatchObject({
      payment: { status: 'failed' },
      transfer: { kind: 'release' },
    });
  });

  test('[P-5.12] of what was paid back before is owed, and told by an event of its own', () => {
    const failed = { ...processing, status: 'failed' as const };
    const changed = changes(failed, { kind: 'owed', ...refusal });
    expect(changed).toMatchObject({
      payment: { status: 'failed' },
      transfer: { kind: 'owe', debitAccount: 'owed_pm_balance', creditAccount: 'outside_sources' },
    });
    expect(changed?.events.map(({ type }) => type)).toEqual(['payment.owed']);
    expect(changeOf(processing, { kind: 'owed', ...refusal })).toBeNull();
  });

  test('[P-5.12] of what was owed takes it from where it had been paid to, and tells nobody', () => {
    const returned = { ...processing, status: 'returned' as const };
    for (const [by, debitAccount] of [
      ['source', 'outside_sources'],
      ['destination', 'outside_destinations'],
    ] as const) {
      expect(changes(returned, { kind: 'repaid', by })).toMatchObject({
        payment: { status: 'returned' },
        events: [],
        transfer: { kind: 'repay', debitAccount, creditAccount: 'owed_pm_balance' },
      });
    }
    expect(changeOf(processing, { kind: 'repaid', by: 'source' })).toBeNull();
  });
});
