// What banks send back is read entry by entry: only what says which entry is answered, and how, must be there.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planFiles } from '../outgoing/files.ts';
import { aLeg, anOriginator } from '../test/legs.ts';
import { replyLines, text } from '../test/nacha-files.ts';
import { excerptText } from './excerpt.ts';
import { hasEnd, looseExcerpt, readLoosely } from './loose.ts';
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

/** Without line breaks and padding, so that the control of the file is the last record. */
const unbroken = (content: string) => content.replaceAll(/^9{94}\n/gm, '').replaceAll('\n', '');
const FILLED_UP: readonly [string, string][] = [
  ['nothing', ''],
  ['a line break', '\n'],
  ['a line break and the mark of DOS', '\r\n\u001a'],
  ['some blanks', ' '.repeat(40)],
  ['blanks for records', ' '.repeat(500)],
  ['NULs', '\0'.repeat(7)],
  ['all of them', '\0 \r\n\0\u001a'],
];

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

  /** One return, with `value` written over the columns from `column` on of its line of this type. */
  function spoiled(type: '6' | '7', column: number, value: string) {
    const lines = answers(1).split('\n');
    const at = lines.findIndex((line) => line.startsWith(type));
    const old = lines[at] as string;
    const changed = old.slice(0, column - 1) + value + old.slice(column - 1 + value.length);
    return read(lines.with(at, changed).join('\n'));
  }

  it.each([
    ['which trace', '7', 7, 'no trace here!!', 'trace'],
    ['which code', '7', 4, '   ', 'code'],
    ['which code, in signs', '7', 4, 'R-1', 'code'],
    ['what it is', '7', 2, '05', 'neither'],
  ] as const)('[P-5.13] one that does not say %s is no answer', (_what, type, column, value, word) => {
    expect(spoiled(type, column, value)).toMatchObject([
      { answer: null, fault: expect.stringContaining(word) },
    ]);
  });

  it('[P-5.15] one that does not say how much says the rest', () => {
    expect(spoiled('6', 30, '  no money')).toMatchObject([
      { answer: { kind: 'return', code: 'R01', amountCents: null }, fault: null },
    ]);
  });

  it('[P-5.14] what is not needed may be odd: the bank that answers, the code of the transaction, letter case', () => {
    expect(spoiled('7', 28, 'some one')[0]?.answer).toMatchObject({ originalRdfi: '' });
    expect(spoiled('6', 2, 'xx')[0]?.answer).toMatchObject({ direction: null, code: 'R01' });
    expect(spoiled('7', 4, 'r01')[0]?.answer).toMatchObject({ code: 'R01', originalRdfi: '23138010' });
  });

  it('[P-5.14] a file that breaks off after an entry still has that entry', () => {
    const lines = answers(2).split('\n');
    const last = lines.findLastIndex((line) => line.startsWith('799'));
    expect(read(lines.slice(0, last + 1).join('\n'))).toMatchObject([
      { answer: { originalTrace: sent[0]?.entry.trace } },
      { answer: { originalTrace: sent[1]?.entry.trace } },
    ]);
  });

  it.each<[string, (content: string) => string]>([
    ['blank lines between all records', (content) => content.replaceAll('\n', '\n\n')],
    ['lines of blanks between all records', (content) => content.replaceAll('\n', '\n  \r\n')],
    ['carriage returns alone', (content) => content.replaceAll('\n', '\r')],
    ...['\n', '\r\n', '\r', '\u001a', '\r\n\u001a'].map((end): [string, (content: string) => string] => [
      `no line breaks but ${JSON.stringify(end)} at the end`,
      (content) => content.replaceAll('\n', '') + end,
    ]),
    ...FILLED_UP.map(([what, end]): [string, (content: string) => string] => [
      `no line breaks, and ${what} in place of the blanks at its end`,
      (content) => unbroken(content).trimEnd() + end,
    ]),
    ...['\n', '\r', '\r\n\r\n'].map((start): [string, (content: string) => string] => [
      `no line breaks but ${JSON.stringify(start)} at the beginning`,
      (content) => start + unbroken(content),
    ]),
    [
      'carriage returns alone and lines that end early',
      (content) => content.replaceAll(/ *\n/g, '\r').trimEnd(),
    ],
  ])('[P-5.13] reads all of a file with %s', (_what, change) => {
    const content = answers(2);
    expect(read(change(content))).toEqual(read(content));
    expect(hasEnd(change(content))).toBe(true);
    const trace = sent[1]?.entry.trace ?? '';
    expect(looseExcerpt(change(content), trace)).toBe(looseExcerpt(content, trace));
    expect(excerptText(change(content), new Set([trace]))).toBe(excerptText(content, new Set([trace])));
  });

  it('[P-5.14] a carriage return in a field of a file without line breaks is a character as any other', () => {
    const lines = answers(3).split('\n');
    // In what the company may write into each batch header, and in the name of its bank in the file header.
    const odd = lines.map((line) => line.replace(/^(5.{25})./, '$1\r').replace(/^(1.{45})./, '$1\r'));
    const content = odd.join('');
    expect(content.split('\r')).toHaveLength(5);
    for (const [, end] of FILLED_UP) {
      expect(read(content + end).map(({ answer }) => answer)).toEqual(
        read(answers(3)).map(({ answer }) => answer),
      );
      expect(hasEnd(content + end)).toBe(true);
    }
    // And so it is where one of them was put aside, and a person applies it.
    for (const { text, answer } of read(content))
      expect(read(text).map((entry) => entry.answer)).toEqual([answer]);
  });

  it('[P-5.14] in a file without line breaks one record may begin with anything where their number comes out even', () => {
    const content = answers(2).replaceAll('\n', '');
    const odd = ` ${content.slice(1, 94 * 4)}*${content.slice(94 * 4 + 1)}`;
    expect(read(odd).map(({ answer }) => answer)).toEqual(read(content).map(({ answer }) => answer));
  });

  describe('a correction', () => {
    const change = replyLines.find((line) => line.startsWith('798')) as string;
    const before = text(replyLines.slice(0, replyLines.indexOf(change)));
    const corrected = (content: string) => read(content)[1];

    it.each([39, 45, 63])('[P-5.14] that is cut off at column %i corrects nothing', (columns) => {
      const cut = before + change.slice(0, columns);
      expect(corrected(cut)).toMatchObject({ answer: null, fault: 'It is cut off.' });
      expect(corrected(cut.replaceAll('\n', '\r'))).toEqual(corrected(cut));
      for (const [, end] of FILLED_UP)
        expect(corrected(cut.replaceAll('\n', '') + end)).toMatchObject({
          answer: null,
          fault: 'It is cut off.',
        });
      // Nor does it where a person applies what was put aside.
      expect(read(corrected(cut)?.text ?? '')).toMatchObject([{ answer: null, fault: 'It is cut off.' }]);
    });

    it('[P-5.14] that has all its columns, or goes on with another line, is read however short it is', () => {
      const answer = { kind: 'noc', correction: { accountNumber: '1918171614' } };
      const ends = ['\n', '\r\n', '\n\n', '\n  '].map((end) => change.slice(0, 45) + end);
      for (const content of [change.slice(0, 64), ...ends]) {
        expect(corrected(before + content)).toMatchObject({ answer });
        expect(read(corrected(before + content)?.text ?? '')).toMatchObject([{ answer }]);
      }
    });
  });

  describe('[P-5.14] an answer whose entry cannot be read', () => {
    const [header = '', batchHeader = '', entry = '', returned = ''] = replyLines;
    const ours = '121042880000001';
    const others = '121042880000002';
    const another = returned.replace(ours, others);
    const change = replyLines.find((line) => line.startsWith('798')) as string;
    const said = (...lines: string[]) => read(text([header, batchHeader, ...lines]));

    it.each<[string, string[]]>([
      ['is lost', []],
      ['begins with a blank', [` ${entry.slice(1)}`]],
      ['begins with another sign', [`*${entry.slice(1)}`]],
    ])('because its line %s says all that is left', (_what, spoiled) => {
      const left = { kind: 'return', originalTrace: others, direction: null, amountCents: null };
      const aside = { text: [batchHeader, ...spoiled, another].join('\n'), answer: left };
      expect(said(...spoiled, another)).toMatchObject([aside]);
      expect(said(entry, returned, ...spoiled, another)).toMatchObject([
        { answer: { originalTrace: ours } },
        aside,
      ]);
      expect(read(aside.text)).toMatchObject([aside]);
      expect(looseExcerpt(text([header, batchHeader, entry, returned, another]), ours)).not.toContain(others);
    });

    it('is read nevertheless where it needs none', () => {
      expect(said(` ${entry.slice(1)}`, change)).toMatchObject([
        { answer: { kind: 'noc', direction: null } },
      ]);
    });

    it.each([
      [change, returned],
      [returned, change],
    ])('is that of the answer before where both are to one entry', (first, second) => {
      const kinds = (lines: string[]) => lines.map((line) => (line === change ? 'noc' : 'return'));
      expect(said(entry, first, second).map(({ answer }) => answer?.kind)).toEqual(kinds([first, second]));
      expect(said(entry, first, second).at(-1)?.text).toBe([batchHeader, entry, second].join('\n'));
      const content = text([header, batchHeader, entry, first, second]);
      for (const [kind, line] of [['noc', change] as const, ['return', returned] as const])
        expect(looseExcerpt(content, ours, kind).split('\n')[3]).toBe(line);
    });
  });

  it('a file of more lines than a bank sends is not read', () => {
    const content = answers(1);
    const linesMax = content.trimEnd().split('\n').length;
    expect(readLoosely(content, { linesMax })).toMatchObject({ ok: true });
    expect(readLoosely(content, { linesMax: linesMax - 1 })).toEqual({
      ok: false,
      reason: `It has more than ${linesMax - 1} lines.`,
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

  it('[P-5.14] whatever stands before and behind records without line breaks, all are read', () => {
    const records = unbroken(answers(3));
    const expected = read(answers(3)).map(({ answer }) => answer);
    const anyOf = (...characters: string[]) => fc.string({ unit: fc.constantFrom(...characters) });
    fc.assert(
      fc.property(
        fc.record({
          before: anyOf('\n', '\r'),
          behind: anyOf('\n', '\r', ' ', '\0', '\u001a'),
          takenAway: fc.nat({ max: 39 }),
          // In the words of the first company.
          carriageReturn: fc.option(fc.nat({ max: 19 })),
        }),
        ({ before, behind, takenAway, carriageReturn }) => {
          const at = 94 + 20 + (carriageReturn ?? 0);
          const odd = carriageReturn === null ? records : `${records.slice(0, at)}\r${records.slice(at + 1)}`;
          const content = before + odd.slice(0, odd.length - takenAway) + behind;
          expect(read(content).map(({ answer }) => answer)).toEqual(expected);
          expect(hasEnd(content)).toBe(true);
        },
      ),
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

  describe('[P-5.14] a file that says itself that nothing came back', () => {
    const [header = ''] = answers(1).split('\n');
    const control = (counts: string) => `9${counts}${'0'.repeat(34)}`.padEnd(94);
    const nines = Array(8).fill('9'.repeat(94));
    const empty = [header, control('00000000000100000000'), ...nines];

    it.each([
      ['as it is written', text(empty)],
      ['without padding', text(empty.slice(0, 2))],
      ['without line breaks', empty.join('')],
      ['with other line ends', empty.join('\r\n')],
      ['with blank lines', empty.join('\n\n')],
    ])('holds nothing, %s', (_form, content) => {
      expect(readLoosely(content)).toEqual({ ok: true, entries: [] });
    });

    it.each([
      ['without its control', [header]],
      ['that breaks off', [header, control('0').slice(0, 12)]],
      ['that counts an entry', [header, control('00000000000100000001')]],
      ['that counts a batch', [header, control('00000100000100000000')]],
      ['without its header', empty.slice(1)],
      ['with something between', [header, 'REJECTED', ...empty.slice(1)]],
      ['with something behind', [...empty, 'REJECTED']],
    ])('is put aside whole %s', (_form, lines) => {
      expect(readLoosely(text(lines))).toEqual({ ok: false, reason: 'The file holds no entries.' });
    });
  });

  it('a file without a single entry is said to be one', () => {
    for (const text of ['', '<html>', '101 061000146'])
      expect(readLoosely(text)).toEqual({ ok: false, reason: 'The file holds no entries.' });
  });
});

describe('hasEnd', () => {
  const whole = answers(3);
  const lines = whole.trimEnd().split('\n');
  const control = lines.findIndex((line) => line.startsWith('9'));

  it.each([
    ['as it is written', whole],
    ['without line breaks', lines.join('')],
    ['without padding', lines.slice(0, control + 1).join('\r\n')],
    ['with something behind it', `${whole}\u001a`],
    ['twice in one', whole + whole],
  ])('a whole file has one, %s', (_form, content) => {
    expect(hasEnd(content)).toBe(true);
  });

  it.each(FILLED_UP)(
    'without line breaks has none before its control is whole, with %s behind it',
    (_what, end) => {
      const records = unbroken(whole);
      const totals = lines.slice(0, control).join('').length + 55;
      for (let at = 0; at <= records.length; at += 1)
        expect(hasEnd(records.slice(0, at) + end)).toBe(at >= totals);
    },
  );

  it('what stops before the totals of its last control has none, wherever it stops', () => {
    const end = lines.slice(0, control).join('\n').length;
    const totals = end + 1 + 55;
    for (let at = 0; at < totals; at += 1) {
      expect(hasEnd(whole.slice(0, at))).toBe(false);
      expect(hasEnd(whole.slice(0, at).replaceAll('\n', '\r'))).toBe(false);
      expect(hasEnd(`${whole.slice(0, at).replaceAll('\n', '')}\n`)).toBe(false);
      if (at > 0) expect(hasEnd(whole + whole.slice(0, Math.min(at, end)))).toBe(false);
    }
    expect(hasEnd(lines.with(control, '9'.repeat(94)).join('\n'))).toBe(false);
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

  it('counts and sums what stands in it, on the side of its direction', () => {
    const none = '0'.repeat(12);
    const content = answers(1_000);
    for (const [code, sums] of [
      ['22', `${none}000000010000`],
      ['27', `000000010000${none}`],
    ] as const) {
      const trace = sent.find(({ entry }) => entry.transactionCode === code)?.entry.trace ?? '';
      const lines = looseExcerpt(content, trace).split('\n');
      // The bank that answers is addressed to ours.
      expect(lines[4]?.slice(4, 44)).toBe(`000002${'0012104288'}${sums}`);
      expect(lines[5]?.slice(0, 55)).toBe(`9000001000001${'00000002'}${'0012104288'}${sums}`);
    }
    // A bank that cannot be read adds nothing.
    const lines = answers(1)
      .split('\n')
      .map((line) => line.replace(/^6(..)\d{8}/, '6$1abcdefgh'));
    const excerpt = looseExcerpt(lines.join('\n'), sent[0]?.entry.trace ?? '').split('\n');
    expect(excerpt[4]?.slice(10, 20)).toBe('0'.repeat(10));
  });
});
