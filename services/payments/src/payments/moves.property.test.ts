// Any order of answers, cancels, repeats and reroutes reaches only legal states, and the money always adds up.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { balanceChanges, type Transfer } from '../ledger/transfer.ts';
import type { RailOutcome } from '../rails/rail.ts';
import type { Decided } from '../routing/decision.ts';
import { type Changed, changePayment } from './moves.ts';
import { changeFor } from './outcomes.ts';
import type { Payment } from './payment.ts';
import { moves } from './states.ts';
import { ACCEPTED_AT, aPayment } from './test/a-payment.ts';

const start = ACCEPTED_AT.getTime();

const decided: Decided = {
  decision: { prefer: 'balanced', chosen: 'ach', candidates: [] },
  option: { fee: 20, settlesAt: new Date(start + 86_400_000), sameDay: false },
};

const step = fc.record({
  kind: fc.constantFrom(
    'submitted',
    'settled',
    'rejected',
    'rejected_for_good',
    'returned',
    'unknown',
    'cancel',
  ),
  attempt: fc.constantFrom('first', 'last'),
  // The clock may run on, stand still, or come from a process that is behind.
  minutes: fc.integer({ min: -90, max: 600 }),
});

function outcomeOf(kind: string, attemptId: string, at: Date): RailOutcome {
  const key = { tenantId: 'org_a.test', paymentId: 'pay_1', attemptId };
  const refusal = { networkCode: 'X', code: 'x', detail: 'x' };
  if (kind === 'submitted') return { ...key, kind, reference: 'ref', at };
  if (kind === 'settled') return { ...key, kind, at };
  if (kind === 'returned') return { ...key, kind, ...refusal };
  if (kind === 'unknown') return { ...key, kind };
  return { ...key, kind: 'rejected', ...refusal, mayWorkElsewhere: kind === 'rejected' };
}

test('any order of events keeps a payment legal, its timeline forward and its money balanced', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), fc.boolean(), (steps, fallback) => {
      let ids = 1;
      const newId = (prefix: string) => `${prefix}_${++ids}`;
      let payment = aPayment({ fallback });
      const transfers: Transfer[] = [];
      const events: string[] = [];
      let clock = start;
      for (const { kind, attempt, minutes } of steps) {
        clock += minutes * 60_000;
        const at = new Date(clock);
        const target = attempt === 'first' ? payment.attempts[0] : payment.attempts.at(-1);
        const change =
          kind === 'cancel'
            ? ({ by: 'canceled' } as const)
            : changeFor(payment, outcomeOf(kind, target?.id ?? '', at), {
                newId,
                decideAgain: ({ attempts }) => (attempts.some(({ rail }) => rail === 'ach') ? null : decided),
              });
        const changed: Changed | null = change && changePayment(payment, change, { at, realNow: at, newId });
        if (!changed) continue;
        if (changed.payment.status !== payment.status) {
          expect(moves.some((m) => m.from === payment.status && m.to === changed.payment.status)).toBe(true);
        } else expect(changed.transfer).toBeNull();
        payment = changed.payment;
        if (changed.transfer) transfers.push(changed.transfer);
        events.push(...changed.events.map((event) => event.type));
      }
      checkPayment(payment, transfers, events);
    }),
    { numRuns: 2_000 },
  );
});

function checkPayment(payment: Payment, transfers: readonly Transfer[], events: readonly string[]): void {
  const stamps = payment.timeline.map((entry) => entry.timestamp);
  expect(stamps).toEqual([...stamps].sort());
  expect(payment.timeline.at(-1)?.status).toBe(payment.status);
  // Each timeline entry after the first has its event; a change of rail has one of its own.
  expect(events.filter((type) => type !== 'payment.rerouted')).toEqual(
    payment.timeline.slice(1).map((entry) => `payment.${entry.status}`),
  );
  expect(events.filter((type) => type === 'payment.rerouted').length).toBe(payment.attempts.length - 1);
  expect(payment.attempts.length).toBeLessThanOrEqual(2);
  expect(payment.failure !== null).toBe(['failed', 'returned'].includes(payment.status));
  // With its hold, the transfers of a payment leave a balance as its state says.
  const hold: Transfer = { ...balanceOf(payment), kind: 'hold' };
  const [change] = balanceChanges([hold, ...transfers]);
  const expected = { pending: [0, 1_000], processing: [0, 1_000], completed: [-1_000, 0] }[
    payment.status as 'pending'
  ] ?? [0, 0];
  expect([change?.posted, change?.held]).toEqual(expected);
}

function balanceOf(payment: Payment): Transfer {
  const { tenantId, debitAccount, creditAccount, amount, createdAt } = payment;
  return {
    tenantId,
    id: 'lt_0',
    paymentId: payment.id,
    kind: 'hold',
    rail: null,
    debitAccount,
    creditAccount,
    amount,
    fee: 0,
    createdAt,
  };
}
