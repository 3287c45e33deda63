import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readNacha } from '../nacha/read.ts';
import { writeNacha } from '../nacha/write.ts';
import { aLeg, anOriginator } from '../test/legs.ts';
import { FILE_LIMITS, type FileLimits, planFiles } from './files.ts';
import type { Leg } from './legs.ts';
import { AchNumbersExhausted } from './traces.ts';

const createdAt = new Date('2026-11-16T15:00:00Z');

function plan(legs: readonly Leg[], limits: Partial<FileLimits> = {}, fileOfDay = 0) {
  return planFiles({
    legs,
    originator: anOriginator,
    createdAt,
    firstTraceSequence: 1,
    fileOfDay,
    limits: { ...FILE_LIMITS, ...limits },
  });
}

describe('planFiles', () => {
  it('makes a batch of what shares class, direction, words and day', () => {
    const { files, placements } = plan([
      aLeg({ id: 'a' }),
      aLeg({ id: 'b', direction: 'debit' }),
      aLeg({ id: 'c', holderType: 'business' }),
      aLeg({ id: 'd', effectiveDate: '2026-11-18' }),
      aLeg({ id: 'e', entryDescription: 'PAYROLL' }),
      aLeg({ id: 'f', descriptiveDate: 'SD1300' }),
      aLeg({ id: 'g', companyName: 'Zażółć Inc.' }),
      aLeg({ id: 'h' }),
    ]);
    expect(files).toHaveLength(1);
    const batches = files[0]?.batches ?? [];
    expect(
      batches.map(({ header, entries }) => [
        header.batchNumber,
        header.sec,
        header.serviceClass,
        header.entryDescription,
        header.effectiveDate,
        header.descriptiveDate,
        header.companyName,
        entries.length,
      ]),
    ).toEqual([
      [1, 'CCD', '220', 'PAYMENT', '261117', '', 'ACME', 1],
      [2, 'PPD', '220', 'PAYMENT', '261117', '', 'ACME', 2],
      [3, 'PPD', '220', 'PAYMENT', '261117', '', 'Zazolc Inc.', 1],
      [4, 'PPD', '220', 'PAYROLL', '261117', '', 'ACME', 1],
      [5, 'PPD', '220', 'PAYMENT', '261117', 'SD1300', 'ACME', 1],
      [6, 'WEB', '225', 'PAYMENT', '261117', '', 'ACME', 1],
      [7, 'PPD', '220', 'PAYMENT', '261118', '', 'ACME', 1],
    ]);
    expect(placements.map((place) => place.legId)).toEqual(['c', 'a', 'h', 'g', 'e', 'f', 'b', 'd']);
    expect(placements[2]).toEqual({
      legId: 'h',
      direction: 'credit',
      fileIndex: 0,
      batchNumber: 2,
      trace: '121042880000003',
    });
    expect(files[0]?.header).toMatchObject({ creationDate: '261116', creationTime: '1000', idModifier: 'A' });
  });

  it('refuses a bad leg by itself', () => {
    const { files, placements, refused, nextTraceSequence } = plan([
      aLeg({ id: 'good' }),
      aLeg({ id: 'bad', routing: '123456789' }),
    ]);
    expect(refused).toEqual([{ legId: 'bad', direction: 'credit', reasons: ['routing_number_invalid'] }]);
    expect(placements).toHaveLength(1);
    expect(nextTraceSequence).toBe(2);
    expect(readNacha(writeNacha(files[0] as (typeof files)[number])).ok).toBe(true);
  });

  it('makes no file of nothing', () => {
    expect(plan([])).toEqual({ files: [], placements: [], refused: [], nextTraceSequence: 1 });
  });

  it("falls back to the originator's words where ASCII carries nothing of a leg's own", () => {
    const header = plan([aLeg({ companyName: '公司', entryDescription: '付款' })]).files[0]?.batches[0]
      ?.header;
    expect(header).toMatchObject({ companyName: 'ACME', entryDescription: 'PAYMENT' });
  });

  it('begins a batch and a file anew before a control would overflow', () => {
    const legs = Array.from({ length: 250 }, (_, i) =>
      aLeg({ id: String(i).padStart(3, '0'), amountCents: 9_999_999_999 }),
    );
    const { files } = plan(legs);
    expect(files.map((file) => file.header.idModifier)).toEqual(['A', 'B', 'C']);
    for (const file of files) expect(readNacha(writeNacha(file)).ok).toBe(true);
    const cheap = legs.slice(0, 7).map((leg) => ({ ...leg, amountCents: 1_00 }));
    const small = plan(cheap, { batchLinesMax: 3 });
    expect(small.files[0]?.batches.map((batch) => batch.entries.length)).toEqual([3, 3, 1]);
  });

  it('[P-5.19] fills batches and files up to each limit and not a line or a cent beyond', () => {
    const legs = (count: number, changes: Partial<Leg> = {}) =>
      Array.from({ length: count }, (_, i) => aLeg({ id: `pay_${i}`, amountCents: 100, ...changes }));
    const sizes = (given: readonly Leg[], limits: Partial<FileLimits>) =>
      plan(given, limits).files.map(({ batches }) => batches.map(({ entries }) => entries.length));
    expect(sizes(legs(4), { batchTotalMaxCents: 300 })).toEqual([[3, 1]]);
    expect(sizes(legs(4), { fileTotalMaxCents: 300 })).toEqual([[3], [1]]);
    expect(sizes(legs(4), { fileLinesMax: 3 })).toEqual([[3], [1]]);
    // An addenda is a line as well.
    expect(sizes(legs(3, { description: 'Rent' }), { batchLinesMax: 4 })).toEqual([[2, 1]]);
    expect(sizes(legs(3, { description: 'Rent' }), { fileLinesMax: 4 })).toEqual([[2], [1]]);
    expect(sizes(legs(5), { batchLinesMax: 2, fileBatchesMax: 2 })).toEqual([[2, 2], [1]]);
    // Debits and credits have sums of their own.
    const both = [...legs(2), ...legs(2, { direction: 'debit' })];
    expect(sizes(both, { fileTotalMaxCents: 200 })).toEqual([[2, 2]]);
  });

  it('keeps every limit, and places each leg once, whatever the amounts', () => {
    const limits = fc.record({
      batchLinesMax: fc.integer({ min: 1, max: 5 }),
      batchTotalMaxCents: fc.integer({ min: 100, max: 300 }),
      fileLinesMax: fc.integer({ min: 1, max: 9 }),
      fileTotalMaxCents: fc.integer({ min: 100, max: 700 }),
      fileBatchesMax: fc.integer({ min: 1, max: 3 }),
    });
    const amounts = fc.array(fc.tuple(fc.integer({ min: 1, max: 100 }), fc.boolean()), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(limits, amounts, (given, legs) => {
        const { files, placements } = plan(
          legs.map(([amountCents, isDebit], index) =>
            aLeg({ id: `pay_${index}`, amountCents, direction: isDebit ? 'debit' : 'credit' }),
          ),
          given,
        );
        expect(new Set(placements.map(({ legId }) => legId)).size).toBe(legs.length);
        expect(new Set(placements.map(({ trace }) => trace)).size).toBe(legs.length);
        for (const { batches } of files) {
          expect(batches.length).toBeLessThanOrEqual(given.fileBatchesMax);
          const sum = (serviceClass: string) =>
            batches
              .filter(({ header }) => header.serviceClass === serviceClass)
              .flatMap(({ entries }) => entries)
              .reduce((total, { amountCents }) => total + amountCents, 0);
          expect(Math.max(sum('220'), sum('225'))).toBeLessThanOrEqual(given.fileTotalMaxCents);
          const lines = batches.reduce((count, { entries }) => count + entries.length, 0);
          expect(lines).toBeLessThanOrEqual(given.fileLinesMax);
          for (const { entries } of batches) {
            expect(entries.length).toBeLessThanOrEqual(given.batchLinesMax);
            const total = entries.reduce((sofar, { amountCents }) => sofar + amountCents, 0);
            expect(total).toBeLessThanOrEqual(given.batchTotalMaxCents);
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it('stops where a day has no file names left', () => {
    expect(() => plan([aLeg()], {}, 36)).toThrow(AchNumbersExhausted);
  });

  it('gives the same files for any order of legs, each leg once, valid to read', () => {
    const leg = fc.record({
      direction: fc.constantFrom('debit' as const, 'credit' as const),
      holderType: fc.constantFrom('individual' as const, 'business' as const),
      accountType: fc.constantFrom('checking' as const, 'savings' as const),
      amountCents: fc.integer({ min: 0, max: 9_999_999_999 }),
      holderName: fc.string({ unit: 'grapheme' }),
      description: fc.option(fc.string({ unit: 'grapheme', maxLength: 140 })),
      companyName: fc.string({ unit: 'grapheme', maxLength: 20 }),
      effectiveDate: fc.constantFrom('2026-11-17', '2026-11-18'),
    });
    const limits = { batchLinesMax: 6, fileLinesMax: 15 };
    const shuffled = fc
      .array(leg, { maxLength: 30 })
      .map((list) => list.map((changes, index) => aLeg({ ...changes, id: `pay_${index}` })))
      .chain((legs) => fc.tuple(fc.constant(legs), fc.shuffledSubarray(legs, { minLength: legs.length })));
    fc.assert(
      fc.property(shuffled, ([legs, mixed]) => {
        const planned = plan(legs, limits);
        expect(plan(mixed, limits)).toEqual(planned);
        expect(planned.placements.length + planned.refused.length).toBe(legs.length);
        expect(new Set(planned.placements.map((place) => place.trace)).size).toBe(planned.placements.length);
        for (const file of planned.files) expect(readNacha(writeNacha(file))).toEqual({ ok: true, file });
        for (const place of planned.placements) {
          const batch = planned.files[place.fileIndex]?.batches[place.batchNumber - 1];
          const entry = batch?.entries.find((candidate) => candidate.trace === place.trace);
          const source = legs.find((candidate) => candidate.id === place.legId);
          expect(entry?.amountCents).toBe(source?.amountCents);
        }
      }),
    );
  });
});
