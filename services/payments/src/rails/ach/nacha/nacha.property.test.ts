// Any file that can be built is written and read back the same, and no changed digit in a sum goes unseen.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { routingNumberOf } from '../../routing-number.ts';
import { CHANGE_REASONS, RETURN_REASONS } from '../codes/codes.ts';
import { formatCorrectedData } from '../codes/corrected-data.ts';
import { isReply } from './checks.ts';
import { excerptText } from './excerpt.ts';
import type { Addenda, Batch, Entry, NachaFile } from './model.ts';
import { readNacha } from './read.ts';
import { writeNacha } from './write.ts';

const dfi = fc.stringMatching(/^\d{8}$/);
const routing = dfi.map(routingNumberOf);
const fileDate = fc
  .date({ min: new Date('2000-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(2, 10).replaceAll('-', ''));

/** Printable ASCII that does not end with a blank, as fields hold it. */
function words(min: number, max: number): fc.Arbitrary<string> {
  return fc
    .string({
      unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)),
      maxLength: max,
    })
    .map((text) => text.trimEnd())
    .filter((text) => text.trim().length >= min);
}

type Draft = Omit<Entry, 'trace'> & { step: number };

const amounts = { min: 1, max: 9_999_999_999 };

function forwardDrafts(directions: readonly ('credit' | 'debit')[], sec: string): fc.Arbitrary<Draft> {
  const live = { credit: ['22', '32', '42', '52'], debit: ['27', '37', '47', '55'] };
  const prenotes = { credit: ['23', '33'], debit: ['28', '38'] };
  return fc
    .record({ direction: fc.constantFrom(...directions), isPrenote: fc.boolean() })
    .chain(({ direction, isPrenote }) =>
      fc.record({
        transactionCode: fc.constantFrom(...(isPrenote ? prenotes : live)[direction]),
        routingNumber: routing,
        accountNumber: words(1, 17),
        amountCents: isPrenote ? fc.constant(0) : fc.integer(amounts),
        individualId: words(0, 15),
        individualName: words(0, 22),
        discretionaryData: words(0, 2),
        addenda: fc.array(fc.record({ type: fc.constant('05' as const), text: words(0, 80) }), {
          maxLength: sec === 'CTX' ? 4 : 1,
        }),
        step: fc.integer({ min: 1, max: 9 }),
      }),
    );
}

const returned: fc.Arbitrary<Addenda> = fc.record({
  type: fc.constant('99' as const),
  code: fc.constantFrom(...RETURN_REASONS.keys()),
  originalTrace: fc.stringMatching(/^\d{15}$/),
  dateOfDeath: fc.oneof(fc.constant(''), fileDate),
  originalRdfi: dfi,
  information: words(0, 44),
});

const changed: fc.Arbitrary<Addenda> = fc
  .record({
    code: fc.constantFrom(...CHANGE_REASONS.keys()),
    originalTrace: fc.stringMatching(/^\d{15}$/),
    originalRdfi: dfi,
    routingNumber: routing,
    accountNumber: fc.stringMatching(/^[A-Z0-9]{1,17}$/),
  })
  .map(({ code, originalTrace, originalRdfi, routingNumber, accountNumber }) => {
    const correction = { routingNumber, accountNumber, transactionCode: '32', name: 'N', individualId: 'I' };
    const formatted = formatCorrectedData(code, correction);
    if (!formatted.ok) throw new Error(formatted.detail);
    const correctedData = formatted.data.trimEnd();
    return { type: '98' as const, code, originalTrace, originalRdfi, correctedData };
  });

function replyDrafts(directions: readonly ('credit' | 'debit')[], sec: string): fc.Arbitrary<Draft> {
  const codes = { credit: ['21', '31'], debit: ['26', '36'] };
  return fc.record({
    transactionCode: fc.constantFrom(...directions.flatMap((direction) => codes[direction])),
    routingNumber: routing,
    accountNumber: words(1, 17),
    amountCents: sec === 'COR' ? fc.constant(0) : fc.nat({ max: amounts.max }),
    individualId: words(0, 15),
    individualName: words(0, 22),
    discretionaryData: words(0, 2),
    addenda: fc.tuple(sec === 'COR' ? changed : returned),
    step: fc.integer({ min: 1, max: 9 }),
  });
}

const CLASSES = { '200': ['credit', 'debit'], '220': ['credit'], '225': ['debit'] } as const;

const batches: fc.Arbitrary<Batch> = fc
  .record({
    serviceClass: fc.constantFrom('200' as const, '220' as const, '225' as const),
    sec: fc.constantFrom('PPD', 'CCD', 'WEB', 'CTX', 'COR'),
    isReply: fc.boolean(),
    odfi: dfi,
  })
  .chain(({ serviceClass, sec, isReply, odfi }) =>
    fc
      .record({
        header: fc.record({
          serviceClass: fc.constant(serviceClass),
          companyName: words(1, 16),
          discretionaryData: words(0, 20),
          companyId: words(1, 10),
          sec: fc.constant(sec),
          entryDescription: words(1, 10),
          descriptiveDate: words(0, 6),
          effectiveDate: fileDate,
          settlementDate: fc.constantFrom('', '001', '366'),
          originatorStatus: fc.constantFrom('0', '1', '2'),
          odfi: fc.constant(odfi),
          batchNumber: fc.constant(0),
        }),
        drafts: fc.array(
          isReply || sec === 'COR'
            ? replyDrafts(CLASSES[serviceClass], sec)
            : forwardDrafts(CLASSES[serviceClass], sec),
          { minLength: 1, maxLength: 5 },
        ),
      })
      .map(({ header, drafts }) => {
        let sequence = 0;
        const entries = drafts.map(({ step, ...draft }): Entry => {
          sequence += step;
          return { ...draft, trace: odfi + String(sequence).padStart(7, '0') };
        });
        return { header, entries };
      }),
  );

const files: fc.Arbitrary<NachaFile> = fc.record({
  header: fc.record({
    immediateDestination: fc.oneof(
      routing,
      routing.map((number) => `0${number}`),
    ),
    immediateOrigin: fc.oneof(routing, fc.stringMatching(/^[1-9]\d{9}$/)),
    creationDate: fileDate,
    creationTime: fc.constantFrom('', '0000', '2359'),
    idModifier: fc.stringMatching(/^[A-Z0-9]$/),
    destinationName: words(0, 23),
    originName: words(0, 23),
    referenceCode: words(0, 8),
  }),
  batches: fc
    .array(batches, { maxLength: 4 })
    .map((list) =>
      list.map((batch, index) => ({ ...batch, header: { ...batch.header, batchNumber: index * 3 + 1 } })),
    ),
});

describe('a written file', () => {
  it('is read back as it was', () => {
    fc.assert(
      fc.property(files, (file) => {
        expect(readNacha(writeNacha(file))).toEqual({ ok: true, file });
      }),
      { numRuns: 300 },
    );
  });

  it('has lines of 94 columns in blocks of ten, and the right controls', () => {
    fc.assert(
      fc.property(files, (file) => {
        const lines = writeNacha(file).split('\n');
        expect(lines.pop()).toBe('');
        expect(lines.length % 10).toBe(0);
        for (const line of lines) expect(line).toHaveLength(94);
        const control = lines.find((line, index) => line.startsWith('9') && index > 0) as string;
        expect(Number(control.slice(7, 13))).toBe(lines.length / 10);
        const entries = file.batches.flatMap((batch) => batch.entries);
        const hash = entries.reduce((sum, entry) => sum + BigInt(entry.routingNumber.slice(0, 8)), 0n);
        expect(BigInt(control.slice(21, 31))).toBe(hash % 10n ** 10n);
        const sums = BigInt(control.slice(31, 43)) + BigInt(control.slice(43, 55));
        expect(sums).toBe(entries.reduce((sum, entry) => sum + BigInt(entry.amountCents), 0n));
      }),
      { numRuns: 200 },
    );
  });
});

/** Columns of amounts, counts, hashes, totals and routing numbers, counted from zero, by the type of the record. */
const GUARDED: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  6: [
    [3, 12],
    [29, 39],
  ],
  8: [[4, 44]],
  9: [[1, 55]],
};

describe('a changed digit', () => {
  it('in an amount, a count, a hash, a total or a routing number is found', () => {
    const spots = files
      .map((file) => writeNacha(file))
      .chain((text) => {
        const places = text
          .split('\n')
          .flatMap((line, row) =>
            line === '9'.repeat(94)
              ? []
              : (GUARDED[line[0] ?? ''] ?? []).flatMap(([from, to]) =>
                  Array.from({ length: to - from }, (_, i) => row * 95 + from + i),
                ),
          );
        return fc.record({
          text: fc.constant(text),
          at: fc.constantFrom(...places),
          by: fc.integer({ min: 1, max: 9 }),
        });
      });
    fc.assert(
      fc.property(spots, ({ text, at, by }) => {
        const digit = (Number(text[at]) + by) % 10;
        const result = readNacha(text.slice(0, at) + String(digit) + text.slice(at + 1));
        expect(result.ok).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** What `excerptText` must show of a file's text, found from its records. */
function excerptFile(file: NachaFile, traces: ReadonlySet<string>): NachaFile | undefined {
  const batches = file.batches
    .map((batch): Batch => ({ ...batch, entries: batch.entries.filter((entry) => concerns(entry, traces)) }))
    .filter((batch) => batch.entries.length > 0);
  return batches.length > 0 ? { header: file.header, batches } : undefined;
}

function concerns(entry: Entry, traces: ReadonlySet<string>): boolean {
  const first = entry.addenda[0];
  return traces.has(isReply(first) ? first.originalTrace : entry.trace);
}

describe('an excerpt', () => {
  it('holds the asked entries and no other, and is a valid file, from the file and from its text alike', () => {
    fc.assert(
      fc.property(files, fc.infiniteStream(fc.boolean()), (file, coin) => {
        const keyOf = (entry: Entry) => {
          const first = entry.addenda[0];
          return first && first.type !== '05' ? first.originalTrace : entry.trace;
        };
        const keys = file.batches.flatMap((batch) => batch.entries.map(keyOf));
        const traces = new Set(keys.filter(() => coin.next().value));
        const small = excerptFile(file, traces);
        const text = excerptText(writeNacha(file), traces);
        if (traces.size === 0) {
          expect(small).toBeUndefined();
          expect(text).toBeUndefined();
          return;
        }
        if (!small || text === undefined) throw new Error('The excerpt is empty.');
        expect(text).toBe(writeNacha(small));
        expect(readNacha(text)).toEqual({ ok: true, file: small });
        const kept = small.batches.flatMap((batch) => batch.entries);
        expect(kept).toEqual(
          file.batches.flatMap((batch) => batch.entries.filter((entry) => traces.has(keyOf(entry)))),
        );
      }),
      { numRuns: 200 },
    );
  });
});

describe('any text', () => {
  it('gets an answer, never an exception', () => {
    const line = fc.tuple(
      fc.constantFrom('1', '5', '6', '7', '8', '9', 'x', ''),
      fc.string({ maxLength: 100 }),
    );
    const text = fc.array(line.map((parts) => parts.join(''))).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, (sample) => {
        const result = readNacha(sample);
        expect(result.ok).toBe(false);
        if (!result.ok) expect(result.faults.length).toBeGreaterThan(0);
      }),
    );
  });
});
