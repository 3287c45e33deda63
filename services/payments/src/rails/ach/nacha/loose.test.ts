// What banks send back is read entry by entry: only what says which entry is answered, and how, must be there.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planFiles } from '../outgoing/files.ts';
import { aLeg, anOriginator } from '../test/legs.ts';
import { looseExcerpt, readLoosely } from './loose.ts';
import { changeBatch, returnBatch } from './replies.ts';
import { writeNacha } from './write.ts';

const plan = planFiles({
  legs: Array.from({ length: 1_000 }, (_, index) =>
    aLeg({ id: `pay_${String(index).padStart(4, '0')}`, direction: index % 2 ? 'debit' : 'credit' }),
  ),
  originator: anOriginator,
  createdAt: new Date('2026-11-16T15:00:00Z'),
  firstTraceSequence: 1,
  fileOfDay: 0,
});
const sent =
  plan.files[0]?.batches.flatMap(({ header, entries }) => entries.map((entry) => ({ header, entry }))) ?? [];

function answers(count: number): string {
  const header = plan.files[0]?.header;
  if (!header) throw new Error('there is a file');
  return writeNacha({
    header: { ...header, immediateDestination: header.immediateOrigin, immediateOrigin: '061000146' },
    batches: sent
      .slice(0, count)
      .map((original, index) =>
        returnBatch(
          { ...original, traceSequence: index + 1, batchNumber: index + 1, effectiveDate: '261118' },
          { code: 'R01' },
        ),
      ),
  });
}

const read = (content: string) => {
  const file = readLoosely(content);
  return file.ok ? file.entries : [];
};

describe('readLoosely', () => {
  it('tells what each entry says', () => {
    expect(read(answers(2))).toMatchObject(
      sent.slice(0, 2).map(({ entry }) => ({
        answer: { kind: 'return', code: 'R01', originalTrace: entry.trace, amountCents: entry.amountCents },
      })),
    );
  });

  it('reads corrections', () => {
    const [original] = sent;
    const header = plan.files[0]?.header;
    if (!original || !header) throw new Error('there is a file');
    const to = { ...original, traceSequence: 1, batchNumber: 1, effectiveDate: '261118' };
    const change = changeBatch(to, 'C01', { accountNumber: '999' });
    if (!change.ok) throw new Error(change.detail);
    const content = writeNacha({ header, batches: [change.batch] });
    expect(read(content)[0]?.answer).toMatchObject({
      kind: 'noc',
      code: 'C01',
      correction: { accountNumber: '999' },
    });
    expect(read(content.replace('798C01', '798C99'))[0]).toMatchObject({
      answer: null,
      fault: expect.any(String),
    });
  });

  it('one odd entry among a thousand is told apart, wherever it stands', () => {
    const content = answers(1_000);
    const lines = content.split('\n');
    const places = lines.flatMap((line, index) => (line.startsWith('799') ? [index] : []));
    fc.assert(
      fc.property(fc.nat({ max: 999 }), fc.string({ maxLength: 94 }), (which, noise) => {
        const spoiled = lines.with(places[which] as number, `7${noise.replaceAll(/[\r\n]/g, '')}`);
        const entries = read(spoiled.join('\n'));
        expect(entries).toHaveLength(1_000);
        expect(entries.filter(({ fault }) => fault !== null)).toHaveLength(1);
        expect(entries[which]?.text).toContain(lines[(places[which] as number) - 1]?.trimEnd());
      }),
      { numRuns: 20 },
    );
  });

  it('never throws, whatever it is given', () => {
    fc.assert(fc.property(fc.string(), (text) => typeof readLoosely(text).ok === 'boolean'));
    fc.assert(
      fc.property(fc.nat(), fc.string({ maxLength: 5 }), (at, noise) => {
        const content = answers(3);
        const place = at % content.length;
        return typeof readLoosely(content.slice(0, place) + noise + content.slice(place)).ok === 'boolean';
      }),
    );
  });

  it('a file without a single entry is said to be one', () => {
    for (const text of ['', '<html>', '101 061000146'])
      expect(readLoosely(text)).toEqual({ ok: false, reason: 'The file holds no entries.' });
  });
});

describe('looseExcerpt', () => {
  it('is the lines of one entry as they came, with controls for them', () => {
    const content = answers(3).toLowerCase();
    const trace = sent[1]?.entry.trace ?? '';
    const lines = looseExcerpt(content, trace).split('\n');
    expect(lines.map((line) => line[0]).join('')).toBe('156789');
    for (const line of lines) expect(line).toHaveLength(94);
    expect(lines[3]).toContain(trace);
    expect(looseExcerpt(content, '000000000000000')).toBe('');
  });
});
