// Breaks each rule of the registry once, and wants it named with its line and column.
import { describe, expect, it } from 'vitest';
import { forward, forwardLines, replies, replyLines, text } from '../test/nacha-files.ts';
import { type Fault, NACHA_RULES, type NachaRule } from './faults.ts';
import { READ_LIMITS, type ReadLimits, readNacha } from './read.ts';
import { writeNacha } from './write.ts';

/** The text with `value` written over the columns from `column` of `line`. */
function over(lines: readonly string[], line: number, column: number, value: string): string {
  const old = lines[line - 1] as string;
  const changed = old.slice(0, column - 1) + value + old.slice(column - 1 + value.length);
  return text(lines.with(line - 1, changed));
}

const sent = (line: number, column: number, value: string) => over(forwardLines, line, column, value);
const back = (line: number, column: number, value: string) => over(replyLines, line, column, value);
const without = (line: number) => text(forwardLines.toSpliced(line - 1, 1));
const within = (line: number, added: string) => text(forwardLines.toSpliced(line - 1, 0, added));

type Broken = { text: string; line: number; column: number; limits?: ReadLimits };

const broken: Partial<Record<NachaRule, Broken[]>> = {
  lines_max: [{ text: text(forwardLines), line: 10, column: 1, limits: { ...READ_LIMITS, linesMax: 9 } }],
  faults_max: [{ text: 'x\ny\nz\n', line: 3, column: 1, limits: { ...READ_LIMITS, faultsMax: 2 } }],
  line_length: [{ text: sent(1, 95, 'x'), line: 1, column: 95 }],
  line_blank: [
    { text: within(3, ''), line: 3, column: 1 },
    { text: within(3, '   '), line: 3, column: 1 },
  ],
  character: [
    { text: sent(3, 55, 'Jané'), line: 3, column: 58 },
    { text: sent(3, 55, '\t'), line: 3, column: 55 },
    { text: `${forwardLines.join('')}\u001a`, line: 11, column: 1 },
  ],
  record_type: [{ text: sent(4, 1, '4'), line: 4, column: 1 }],
  record_order: [
    { text: within(2, forwardLines[2] as string), line: 2, column: 1 },
    { text: within(2, forwardLines[3] as string), line: 2, column: 1 },
    { text: within(2, forwardLines[5] as string), line: 2, column: 1 },
    { text: within(3, forwardLines[3] as string), line: 3, column: 1 },
    { text: within(2, forwardLines[0] as string), line: 2, column: 1 },
  ],
  file_header_missing: [
    { text: without(1), line: 1, column: 1 },
    { text: '', line: 1, column: 1 },
  ],
  file_control_missing: [
    { text: without(10), line: 9, column: 1 },
    { text: '', line: 1, column: 1 },
  ],
  batch_control_missing: [
    { text: without(6), line: 6, column: 1 },
    { text: without(9), line: 9, column: 1 },
  ],
  padding: [
    { text: text([...forwardLines, forwardLines[9] as string]), line: 11, column: 1 },
    { text: text([...forwardLines, ...Array<string>(10).fill('9'.repeat(94))]), line: 20, column: 1 },
  ],
  field_fixed: [
    { text: sent(1, 2, '02'), line: 1, column: 2 },
    { text: sent(1, 35, '095'), line: 1, column: 35 },
    { text: sent(1, 38, '20'), line: 1, column: 38 },
    { text: sent(1, 40, '2'), line: 1, column: 40 },
  ],
  field_reserved: [
    { text: sent(6, 74, 'x'), line: 6, column: 74 },
    { text: sent(10, 94, 'x'), line: 10, column: 56 },
    { text: back(8, 22, '0'), line: 8, column: 22 },
    { text: back(8, 79, '0'), line: 8, column: 65 },
  ],
  field_numeric: [
    { text: sent(3, 30, '   1000000'), line: 3, column: 30 },
    { text: sent(2, 80, 'x'), line: 2, column: 80 },
    { text: sent(3, 80, '-'), line: 3, column: 80 },
    { text: back(4, 7, ' '), line: 4, column: 7 },
    { text: sent(10, 22, '+'), line: 10, column: 22 },
  ],
  field_required: [
    { text: sent(2, 5, '    '), line: 2, column: 5 },
    { text: sent(3, 13, '        '), line: 3, column: 13 },
  ],
  immediate_destination: [
    { text: sent(1, 13, '5'), line: 1, column: 4 },
    { text: sent(1, 4, '1231380104'), line: 1, column: 4 },
  ],
  immediate_origin: [
    { text: sent(1, 23, '3'), line: 1, column: 14 },
    { text: sent(1, 14, '  000TESTE'), line: 1, column: 14 },
    { text: sent(1, 14, '0121042883'), line: 1, column: 14 },
  ],
  creation_date: [{ text: sent(1, 24, '260231'), line: 1, column: 24 }],
  creation_time: [{ text: sent(1, 30, '2460'), line: 1, column: 30 }],
  file_id_modifier: [
    { text: sent(1, 34, 'a'), line: 1, column: 34 },
    { text: sent(1, 34, ' '), line: 1, column: 34 },
  ],
  service_class: [{ text: sent(2, 2, '280'), line: 2, column: 2 }],
  sec_code: [{ text: sent(2, 51, 'IAT'), line: 2, column: 51 }],
  effective_date: [
    { text: sent(2, 70, '261131'), line: 2, column: 70 },
    { text: sent(2, 70, '000000'), line: 2, column: 70 },
    { text: back(2, 70, '261350'), line: 2, column: 70 },
  ],
  settlement_date: [
    { text: sent(2, 76, '367'), line: 2, column: 76 },
    { text: sent(2, 76, '000'), line: 2, column: 76 },
  ],
  originator_status: [{ text: sent(2, 79, '7'), line: 2, column: 79 }],
  batch_number_order: [
    { text: sent(7, 88, '0000001'), line: 7, column: 88 },
    { text: sent(2, 88, '0000000'), line: 2, column: 88 },
  ],
  batch_empty: [{ text: without(8), line: 7, column: 1 }],
  transaction_code: [
    { text: sent(3, 2, '25'), line: 3, column: 2 },
    { text: sent(5, 2, '34'), line: 5, column: 2 },
  ],
  service_class_entries: [
    { text: sent(3, 2, '27'), line: 3, column: 2 },
    { text: sent(8, 2, '22'), line: 8, column: 2 },
  ],
  routing_check_digit: [
    { text: sent(3, 12, '5'), line: 3, column: 4 },
    { text: sent(3, 5, '2'), line: 3, column: 4 },
    { text: sent(3, 4, '000000000'), line: 3, column: 4 },
  ],
  amount_live: [{ text: sent(3, 30, '0000000000'), line: 3, column: 30 }],
  amount_zero: [
    { text: sent(5, 39, '1'), line: 5, column: 30 },
    { text: back(7, 39, '1'), line: 7, column: 30 },
    { text: sent(3, 2, '24'), line: 3, column: 30 },
  ],
  trace_odfi: [{ text: sent(3, 80, '9'), line: 3, column: 80 }],
  trace_order: [
    { text: sent(5, 94, '1'), line: 5, column: 80 },
    { text: sent(3, 94, '3'), line: 5, column: 80 },
  ],
  addenda_indicator: [
    { text: sent(3, 79, '0'), line: 3, column: 79 },
    { text: sent(5, 79, '1'), line: 5, column: 79 },
  ],
  addenda_type: [
    { text: sent(4, 2, '10'), line: 4, column: 2 },
    { text: back(2, 51, 'COR'), line: 4, column: 2 },
    { text: back(6, 51, 'PPD'), line: 8, column: 2 },
  ],
  addenda_count: [
    { text: within(5, forwardLines[3] as string), line: 5, column: 2 },
    { text: text(replyLines.toSpliced(4, 0, replyLines[3] as string)), line: 5, column: 2 },
    { text: text(replyLines.toSpliced(7, 1)), line: 7, column: 79 },
    { text: within(5, replyLines[3] as string), line: 5, column: 2 },
    // A class that allows many remittances allows none beside a return.
    {
      text: text(
        back(2, 51, 'CTX')
          .split('\n')
          .toSpliced(4, 0, forwardLines[3] as string),
      ),
      line: 5,
      column: 2,
    },
  ],
  addenda_sequence: [{ text: sent(4, 84, '0002'), line: 4, column: 84 }],
  addenda_link: [
    { text: sent(4, 88, '0000002'), line: 4, column: 88 },
    { text: back(4, 94, '8'), line: 4, column: 80 },
  ],
  reply_transaction_code: [
    { text: sent(3, 2, '21'), line: 3, column: 2 },
    { text: back(3, 2, '22'), line: 3, column: 2 },
  ],
  return_code: [
    { text: back(4, 4, 'R99'), line: 4, column: 4 },
    { text: back(4, 4, 'C01'), line: 4, column: 4 },
    { text: back(4, 4, 'r03'), line: 4, column: 4 },
  ],
  date_of_death: [{ text: back(4, 22, '261399'), line: 4, column: 22 }],
  noc_code: [{ text: back(8, 4, 'C99'), line: 8, column: 4 }],
  noc_corrected_data: [{ text: back(8, 4, 'C02'), line: 8, column: 36 }],
  batch_entry_count: [{ text: sent(6, 5, '000004'), line: 6, column: 5 }],
  batch_hash: [{ text: sent(6, 20, '1'), line: 6, column: 11 }],
  batch_debit_total: [{ text: sent(9, 32, '1'), line: 9, column: 21 }],
  batch_credit_total: [{ text: sent(6, 44, '1'), line: 6, column: 33 }],
  batch_control_class: [{ text: sent(6, 2, '200'), line: 6, column: 2 }],
  batch_control_company: [{ text: sent(6, 45, '9'), line: 6, column: 45 }],
  batch_control_odfi: [{ text: sent(6, 80, '9'), line: 6, column: 80 }],
  batch_control_number: [{ text: sent(6, 94, '9'), line: 6, column: 88 }],
  file_batch_count: [{ text: sent(10, 7, '3'), line: 10, column: 2 }],
  file_block_count: [{ text: sent(10, 13, '2'), line: 10, column: 8 }],
  file_entry_count: [{ text: sent(10, 21, '5'), line: 10, column: 14 }],
  file_hash: [{ text: sent(10, 31, '1'), line: 10, column: 22 }],
  file_debit_total: [{ text: sent(10, 43, '1'), line: 10, column: 32 }],
  file_credit_total: [{ text: sent(10, 55, '1'), line: 10, column: 44 }],
};

function faultsOf({ text: broken, limits }: Broken): readonly Fault[] {
  const result = readNacha(broken, limits);
  return result.ok ? [] : result.faults;
}

describe('readNacha', () => {
  it('reads both files that the rules below are broken in', () => {
    expect(readNacha(text(forwardLines))).toEqual({ ok: true, file: forward });
    expect(readNacha(text(replyLines))).toEqual({ ok: true, file: replies() });
  });

  const cases = Object.entries(broken).flatMap(([rule, files]) => files.map((file) => ({ rule, ...file })));
  it.each(cases)('names $rule in line $line, column $column', ({ rule, line, column, ...file }) => {
    expect(faultsOf({ line, column, ...file })).toContainEqual(
      expect.objectContaining({ rule, line, column }),
    );
  });

  it('has a case for every rule, but the one that only a writer can break', () => {
    const missing = Object.keys(NACHA_RULES).filter((rule) => !(rule in broken));
    expect(missing).toEqual(['field_overflow']);
  });

  it('names one fault and no consequence of it where a field cannot be read', () => {
    expect(faultsOf({ text: sent(3, 30, 'abcdefghij'), line: 3, column: 30 })).toEqual([
      { line: 3, column: 30, rule: 'field_numeric', detail: '10 digits are expected.' },
    ]);
    expect(faultsOf({ text: sent(4, 2, '10'), line: 4, column: 2 })).toHaveLength(1);
    // Of entries: code and bank. Of controls: the hash and the sums.
    for (const [line, column, value] of [
      [3, 2, '99'],
      [8, 2, '99'],
      [3, 4, 'abcdefghi'],
      [2, 80, 'abcdefgh'],
      [6, 11, 'abcdefghij'],
      [6, 33, 'abcdefghijkl'],
      [10, 22, 'abcdefghij'],
    ] as const) {
      expect(faultsOf({ text: sent(line, column, value), line, column })).toMatchObject([{ line, column }]);
    }
  });

  it('names all faults at once, in the order of the file', () => {
    const lines = forwardLines
      .with(0, over(forwardLines, 1, 24, '269999').split('\n')[0] as string)
      .with(2, over(forwardLines, 3, 12, '9').split('\n')[2] as string)
      .with(9, over(forwardLines, 10, 13, '9').split('\n')[9] as string);
    const faults = faultsOf({ text: text(lines), line: 1, column: 1 });
    expect(faults.map((fault) => [fault.line, fault.rule])).toEqual([
      [1, 'creation_date'],
      [3, 'routing_check_digit'],
      [10, 'file_block_count'],
    ]);
  });

  it('never repeats an account number in a fault', () => {
    for (const file of cases) expect(JSON.stringify(faultsOf(file))).not.toMatch(/12345678(?!9)/);
  });
});

describe('readNacha takes what banks send', () => {
  const padded = text([...forwardLines.slice(0, 9), forwardLines[9] as string]);
  it.each([
    ['line breaks of Windows', padded.replaceAll('\n', '\r\n')],
    ['no line break at the end', padded.trimEnd()],
    ['short lines', forwardLines.map((line) => line.trimEnd()).join('\n')],
    ['blanks after the 94 columns', forwardLines.map((line) => `${line}   `).join('\n')],
    ['empty lines at the end', `${padded}\n\r\n   \n`],
    ['padding that fills no block', `${padded}${'9'.repeat(94)}\n`],
    ['no line breaks at all', forwardLines.join('')],
    ['no line breaks but one at the end', `${forwardLines.join('')}\r\n`],
    ['no line breaks, and blanks at the end taken away', forwardLines.join('').trimEnd()],
    ['no line breaks, and a block filled up', `${forwardLines.join('')}${' '.repeat(80)}\0\0`],
    ['no line breaks but one at the beginning', `\r\n${forwardLines.join('')}`],
    ['carriage returns alone', forwardLines.join('\r')],
  ])('%s', (_name, sample) => {
    expect(readNacha(sample)).toEqual({ ok: true, file: forward });
  });

  it.each([
    ['no time of day', sent(1, 30, '    ')],
    ['the last day of a leap year', sent(2, 76, '366')],
  ])('%s', (_name, sample) => {
    expect(readNacha(sample)).toMatchObject({ ok: true });
  });

  it('a file without batches', () => {
    const empty = writeNacha({ header: forward.header, batches: [] });
    expect(readNacha(empty)).toEqual({ ok: true, file: { header: forward.header, batches: [] } });
  });
});
