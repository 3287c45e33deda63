import { describe, expect, test } from 'vitest';
import { changePayment } from './moves.ts';
import { ACCEPTED_AT, aPayment } from './test/a-payment.ts';

const at = new Date('2026-11-16T09:30:00.000Z');
const processing = aPayment({ status: 'processing' });

function context(now: Date) {
  return { at: now, realNow: new Date(0), newId: (prefix: string) => `${prefix}_new` };
}

describe('what a change writes', () => {
  test('[P-6.4] a fee is booked with the completion alone', () => {
    expect(changePayment(processing, { by: 'settled' }, context(at))?.transfer).toMatchObject({
      kind: 'post',
      fee: 45,
    });
    expect(changePayment(aPayment(), { by: 'canceled' }, context(at))?.transfer).toMatchObject({
      kind: 'release',
      fee: 0,
    });
  });

  test('[P-10.15] is stamped with the time of the organisation, and its event is stored by real time', () => {
    const changed = changePayment(processing, { by: 'settled' }, context(at));
    expect(changed?.payment).toMatchObject({ updatedAt: at });
    expect(changed?.payment.timeline.at(-1)).toEqual({ status: 'completed', timestamp: at.toISOString() });
    expect(changed?.transfer?.createdAt).toEqual(at);
    expect(changed?.events).toMatchObject([{ occurredAt: at, createdAt: new Date(0) }]);
  });

  test('[P-4.11] never goes back, where a process or a clock is behind', () => {
    const before = new Date(ACCEPTED_AT.getTime() - 1);
    const changed = changePayment(processing, { by: 'settled' }, context(before));
    expect(changed?.payment.timeline.at(-1)?.timestamp).toBe(ACCEPTED_AT.toISOString());
    expect(changed?.transfer?.createdAt).toEqual(ACCEPTED_AT);
    expect(changed?.events[0]?.occurredAt).toEqual(ACCEPTED_AT);
    // A change that no timeline shows counts as well.
    const touched = { ...processing, updatedAt: at };
    const late = changePayment(touched, { attempt: { status: 'unknown' } }, context(ACCEPTED_AT));
    expect(late?.payment.updatedAt).toEqual(at);
  });
});
