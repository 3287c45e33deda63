import { expect, test } from 'vitest';
import {
  carriedTrace,
  currentTrace,
  formatTraceparent,
  leaveTrace,
  parseTraceparent,
  runInCarried,
  runInTrace,
  runInTraces,
  sharedTrace,
  type Trace,
  traceOf,
} from './trace.ts';

const trace = (digit: number): Trace => ({
  traceId: String(digit).repeat(32),
  parentId: 'b'.repeat(16),
  sampled: true,
});

test('all that is done under one trace is of it, whatever it is about', () => {
  runInTrace(trace(1), () => {
    expect(currentTrace()).toEqual(trace(1));
    expect(traceOf('pay_1')).toEqual(trace(1));
    expect(parseTraceparent(carriedTrace())).toEqual(trace(1));
  });
});

test('work on many things is of no trace, and what is done about each is of its own', () => {
  runInTraces(new Map([['pay_1', trace(1)]]), () => {
    expect(currentTrace()).toBeUndefined();
    expect(traceOf('pay_1')).toEqual(trace(1));
    expect(traceOf('pay_2')).toBeUndefined();
    leaveTrace(() => {
      expect(traceOf('pay_1')).toBeUndefined();
      expect(carriedTrace()).toBeUndefined();
    });
  });
});

test('what is carried of several batches goes on as one, with what carries nothing', () => {
  const first = runInTraces(new Map([['pay_1', trace(1)]]), carriedTrace);
  const second = runInTraces(new Map([['pay_2', trace(2)]]), carriedTrace);
  expect([first, null, second, undefined].map(sharedTrace)).toEqual([null, null, null, null]);
  runInCarried([null, first, second], () => {
    expect(traceOf('pay_1')).toEqual(trace(1));
    expect(traceOf('pay_2')).toEqual(trace(2));
    expect(carriedTrace()).toBe(
      JSON.stringify({ pay_1: formatTraceparent(trace(1)), pay_2: formatTraceparent(trace(2)) }),
    );
  });
  runInCarried([null, undefined], () => expect(carriedTrace()).toBeUndefined());
});

test('one trace goes on alone', () => {
  const carried = runInTrace(trace(1), carriedTrace);
  expect(sharedTrace(carried)).toBe(carried);
  runInCarried([carried], () => expect(currentTrace()).toEqual(trace(1)));
});

test('what is carried is bounded', () => {
  const many = new Map(Array.from({ length: 5_000 }, (_, n) => [`pay_${n}`, trace(1)]));
  const carried = runInTraces(many, carriedTrace) ?? '';
  expect(Object.keys(JSON.parse(carried))).toHaveLength(1_000);
});
