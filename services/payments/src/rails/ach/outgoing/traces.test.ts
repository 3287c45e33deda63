import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRoutingNumber, routingNumberOf } from '../../routing-number.ts';
import {
  AchNumbersExhausted,
  achFileName,
  FILES_PER_DAY_MAX,
  fileIdModifier,
  parseTrace,
  reserveTraces,
  TRACE_SEQUENCE_MAX,
  temporaryFileName,
  traceNumber,
} from './traces.ts';

describe('traces', () => {
  it('are the bank and an ascending number', () => {
    expect(traceNumber('12104288', 1)).toBe('121042880000001');
    expect(traceNumber('12104288', 9_999_999)).toBe('121042889999999');
    expect(parseTrace('121042880000042')).toEqual({ odfi: '12104288', sequence: 42 });
    expect(parseTrace('12104288000004x')).toBeUndefined();
  });

  it('end with seven digits', () => {
    expect(() => traceNumber('12104288', 10_000_000)).toThrow(AchNumbersExhausted);
    expect(() => traceNumber('12104288', 0)).toThrow(AchNumbersExhausted);
    expect(() => traceNumber('1210428', 1)).toThrow(RangeError);
  });

  it('are reserved in one piece, from the start again where the end is too near', () => {
    expect(reserveTraces(0, 3)).toEqual({ first: 1, last: 3 });
    expect(reserveTraces(9_999_996, 3)).toEqual({ first: 9_999_997, last: 9_999_999 });
    expect(reserveTraces(9_999_997, 3)).toEqual({ first: 1, last: 3 });
    expect(() => reserveTraces(0, 10_000_000)).toThrow(AchNumbersExhausted);
    expect(() => reserveTraces(0, 0)).toThrow(AchNumbersExhausted);
  });
});

describe('traces that run out', () => {
  it('ascend within a file, stay within seven digits, and come again as late as they can', () => {
    const counts = fc.array(fc.integer({ min: 1, max: 50_000 }), { minLength: 1, maxLength: 60 });
    const before = fc.integer({ min: 0, max: TRACE_SEQUENCE_MAX });
    fc.assert(
      fc.property(before, counts, (lastUsed, files) => {
        let last = lastUsed;
        const ranges = files.map((count) => {
          const range = reserveTraces(last, count);
          last = range.last;
          return range;
        });
        for (const { first, last: end } of ranges) {
          expect(first).toBeGreaterThanOrEqual(1);
          expect(end).toBeLessThanOrEqual(TRACE_SEQUENCE_MAX);
          expect(traceNumber('12104288', first) <= traceNumber('12104288', end)).toBe(true);
        }
        // Sixty files of fifty thousand are less than all there are: no number is used twice.
        const sorted = ranges.toSorted((a, b) => a.first - b.first);
        for (const [index, { first }] of sorted.entries())
          expect(first).toBeGreaterThan(sorted[index - 1]?.last ?? 0);
      }),
    );
  });
});

describe('files', () => {
  it('are told apart by A to Z, then 0 to 9', () => {
    const all = Array.from({ length: FILES_PER_DAY_MAX }, (_, file) => fileIdModifier(file));
    expect(all.join('')).toBe('ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789');
    expect(() => fileIdModifier(36)).toThrow(AchNumbersExhausted);
    expect(() => fileIdModifier(-1)).toThrow(AchNumbersExhausted);
  });

  it('are named by who, when and which', () => {
    const name = achFileName({ origin: '121042882', date: '2026-11-16', modifier: 'B' });
    expect(name).toBe('ach-121042882-20261116-B.ach');
    expect(temporaryFileName(name)).toBe('ach-121042882-20261116-B.ach.part');
  });
});

describe('routing numbers', () => {
  it('have a check digit', () => {
    for (const good of ['231380104', '121042882', '091400606', '021000021']) {
      expect(isRoutingNumber(good)).toBe(true);
      expect(routingNumberOf(good.slice(0, 8))).toBe(good);
    }
    for (const bad of ['231380105', '23138010', '2313801044', 'abcdefghi', ''])
      expect(isRoutingNumber(bad)).toBe(false);
  });
});
