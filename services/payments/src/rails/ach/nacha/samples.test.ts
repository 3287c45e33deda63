// Public sample files, read and written back where the folder with them is present.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readLoosely } from './loose.ts';
import { readNacha } from './read.ts';
import { repliesOf } from './replies.ts';
import { findTransactionCode } from './transaction-codes.ts';
import { writeNacha } from './write.ts';

const folder = path.resolve(import.meta.dirname, '../../../../../../../shared/vectors/ach');
const present = existsSync(folder);
const names = present ? readdirSync(folder).filter((name) => name.endsWith('.ach')) : [];

const INVALID = 'ppd-mixedDebitCredit-invalid.ach';
const PADDING = /^9{94}$/;

const load = (name: string) => readFileSync(path.join(folder, name), 'utf8');
const records = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '' && !PADDING.test(line))
    .map((line) => line.padEnd(94));

function read(name: string) {
  const result = readNacha(load(name));
  if (!result.ok) throw new Error(`${name}: ${JSON.stringify(result.faults)}`);
  return result.file;
}

describe.runIf(present)('sample files', () => {
  it('are there', () => {
    expect(names.length).toBeGreaterThanOrEqual(11);
  });

  it.each(names.filter((name) => name !== INVALID))('%s is read, and written back as it was', (name) => {
    expect(records(writeNacha(read(name)))).toEqual(records(load(name)));
  });

  /** SEC code, debits and credits by their sums, replies, and what else the name promises. */
  const said: Record<string, string> = {
    'ccd-debit.ach': 'CCD debit 500125',
    'cor-example.ach': 'COR C01',
    'ppd-credit.ach': 'PPD credit 100000000',
    'ppd-debit.ach': 'PPD debit 100000000',
    'ppd-mixedDebitCredit.ach': 'PPD debit 200000000 credit 200000000',
    'return-WEB.ach': 'WEB R01 12354 R03 4565',
    'same-day-ach-ppd-credit.ach': 'PPD SD1300 credit 100000000',
    'short-line.ach': 'PPD debit 100000000',
    'two-micro-deposits.ach': 'PPD debit 120 credit 120',
    'web-credit.ach': 'WEB credit 10799',
  };

  function describeFile(name: string): string {
    const { batches } = read(name);
    const replies = repliesOf(read(name)).map((reply) =>
      reply.kind === 'return' ? `${reply.code} ${reply.amountCents}` : reply.code,
    );
    const sumOf = (direction: 'debit' | 'credit') =>
      batches
        .flatMap(({ entries }) => entries)
        .filter(({ transactionCode }) => findTransactionCode(transactionCode)?.direction === direction)
        .reduce((sum, { amountCents }) => sum + amountCents, 0);
    const sums = (['debit', 'credit'] as const).flatMap((direction) =>
      sumOf(direction) > 0 ? [`${direction} ${sumOf(direction)}`] : [],
    );
    const words = batches.flatMap(({ header }) => [
      header.sec,
      ...(header.descriptiveDate.startsWith('SD') ? [header.descriptiveDate] : []),
    ]);
    return [...new Set(words), ...(replies.length > 0 ? replies : sums)].join(' ');
  }

  it('say what their names say, every one of them', () => {
    expect(names.filter((name) => name !== INVALID).sort()).toEqual(Object.keys(said).sort());
    for (const [name, text] of Object.entries(said)) expect([name, describeFile(name)]).toEqual([name, text]);
  });

  it('the invalid one is refused for its origin, which is no number', () => {
    expect(readNacha(load(INVALID))).toEqual({
      ok: false,
      faults: [
        { line: 1, column: 14, rule: 'immediate_origin', detail: '"000TESTER" is not a routing number.' },
      ],
    });
  });

  describe('in the form in which banks really send them', () => {
    const forms: [string, (text: string) => string][] = [
      ['as it is', (text) => text],
      ['with a company number as origin', (text) => text.replace(/^(101.{10}).{10}/, '$11234567890')],
      ['with the settlement day blank', (text) => text.replaceAll(/^(5.{74}).{3}/gm, '$1   ')],
      ['in lower case', (text) => text.toLowerCase()],
      ['with an extended character in a name', (text) => text.replace(/^(6.{54})./m, '$1\u00e9')],
      ['without headers, controls and padding', (text) => text.replaceAll(/^[1589].*\n?/gm, '')],
    ];
    it.each(forms)('returns and corrections are read %s', (_name, change) => {
      const said = (name: string) => {
        const file = readLoosely(change(load(name)));
        return file.ok
          ? file.entries.map(({ answer }) => [answer?.kind, answer?.code, answer?.originalTrace])
          : [];
      };
      expect(said('return-WEB.ach')).toEqual(
        repliesOf(read('return-WEB.ach')).map(({ kind, code, originalTrace }) => [kind, code, originalTrace]),
      );
      expect(said('cor-example.ach')).toEqual(
        repliesOf(read('cor-example.ach')).map(({ kind, code, originalTrace }) => [
          kind,
          code,
          originalTrace,
        ]),
      );
    });
    it.each(forms)(
      'no file stops at what does not matter, %s: each entry is told by itself',
      (_name, change) => {
        for (const name of names) {
          const strict = name === INVALID ? null : read(name);
          const entries = strict?.batches.flatMap((batch) => batch.entries).length ?? 2;
          const file = readLoosely(change(load(name)));
          if (!file.ok) throw new Error(`${name}: ${file.reason}`);
          expect([name, file.entries.length]).toEqual([name, entries]);
          const answered = file.entries.filter(({ answer }) => answer !== null).length;
          expect([name, answered]).toEqual([name, strict ? repliesOf(strict).length : 0]);
        }
      },
    );
    it('a code that is not known is kept', () => {
      const file = readLoosely(load('return-WEB.ach').replaceAll(/^799R\d\d/gm, '799R98'));
      expect(file.ok && file.entries.every(({ answer }) => answer?.code === 'R98')).toBe(true);
    });
  });

  it('returns are found with the trace they answer', () => {
    expect(repliesOf(read('return-WEB.ach'))).toMatchObject([
      {
        kind: 'return',
        code: 'R01',
        originalTrace: '091400600000001',
        direction: 'debit',
        amountCents: 12_354,
      },
      {
        kind: 'return',
        code: 'R03',
        originalTrace: '091400600000003',
        direction: 'credit',
        amountCents: 4_565,
      },
    ]);
  });

  it('a correction is found with what it corrects', () => {
    expect(repliesOf(read('cor-example.ach'))).toMatchObject([
      {
        kind: 'noc',
        code: 'C01',
        originalTrace: '121042880000001',
        correction: { accountNumber: '1918171614' },
      },
    ]);
  });

  it('entries that are no replies give none', () => {
    expect(repliesOf(read('ppd-debit.ach'))).toEqual([]);
  });
});
