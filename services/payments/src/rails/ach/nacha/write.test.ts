import { describe, expect, it } from 'vitest';
import { batchHeader, entry, forward, forwardLines, replies, replyLines, text } from '../test/nacha-files.ts';
import type { Fault, NachaRule } from './faults.ts';
import type { Entry, NachaFile } from './model.ts';
import { NachaFileRefused, writeNacha } from './write.ts';

describe('writeNacha', () => {
  it('writes these very lines', () => {
    expect(writeNacha(forward)).toBe(text(forwardLines));
    expect(writeNacha(replies())).toBe(text(replyLines));
  });

  it('pads with nines to whole blocks', () => {
    const [batch] = forward.batches;
    if (!batch) throw new Error('The sample has a batch.');
    const lines = writeNacha({ ...forward, batches: [batch] }).split('\n');
    expect(lines).toHaveLength(11);
    expect(lines.slice(7, 10)).toEqual(Array(3).fill('9'.repeat(94)));
    expect(lines[6]?.slice(7, 13)).toBe('000001');
  });

  it('keeps the lowest ten digits of the sum of all banks as the hash', () => {
    const many = (length: number, from: number): Entry[] =>
      Array.from({ length }, (_, i) => ({
        ...{ ...entry, amountCents: 1, addenda: [] },
        trace: `12104288${String(from + i).padStart(7, '0')}`,
      }));
    const lines = writeNacha({
      ...forward,
      batches: [
        { header: batchHeader, entries: many(500, 1) },
        { header: { ...batchHeader, batchNumber: 2 }, entries: many(400, 501) },
      ],
    }).split('\n');
    const hashesOf = (type: string, at: number) =>
      lines.filter((line) => line.startsWith(type)).map((line) => line.slice(at, at + 10));
    // 500, 400 and 900 times 23138010.
    expect(hashesOf('82', 10)).toEqual(['1569005000', '9255204000']);
    expect(hashesOf('90', 21)).toEqual(['0824209000']);
  });

  function refusal(changed: Partial<Entry>): readonly Fault[] {
    const [batch] = forward.batches;
    if (!batch) throw new Error('The sample has a batch.');
    try {
      writeNacha({ ...forward, batches: [{ ...batch, entries: [{ ...entry, ...changed }] }] });
    } catch (error) {
      if (error instanceof NachaFileRefused) return error.faults;
      throw error;
    }
    return [];
  }

  it.each<[NachaRule, number, number, Partial<Entry>]>([
    ['field_overflow', 3, 13, { accountNumber: '123456789012345678' }],
    ['field_overflow', 3, 55, { individualName: 'x'.repeat(23) }],
    ['field_overflow', 3, 30, { amountCents: 10_000_000_000 }],
    ['field_numeric', 3, 30, { amountCents: -1 }],
    ['field_numeric', 3, 30, { amountCents: 0.5 }],
    ['field_numeric', 3, 80, { trace: '12104288' }],
    ['character', 3, 55, { individualName: 'Ünal' }],
    ['routing_check_digit', 3, 4, { routingNumber: '231380105' }],
    ['transaction_code', 3, 2, { transactionCode: '99' }],
    ['service_class_entries', 3, 2, { transactionCode: '27' }],
    ['trace_odfi', 3, 80, { trace: '231380100000001' }],
    ['addenda_count', 5, 2, { addenda: [...entry.addenda, ...entry.addenda] }],
    ['field_overflow', 4, 4, { addenda: [{ type: '05', text: 'x'.repeat(81) }] }],
  ])('refuses %s in line %i, column %i', (rule, line, column, changed) => {
    expect(refusal(changed)).toContainEqual(expect.objectContaining({ rule, line, column }));
  });

  it.each<[NachaRule, NachaFile['batches']]>([
    ['trace_order', [{ header: batchHeader, entries: [entry, entry] }]],
    [
      'batch_number_order',
      [
        { header: batchHeader, entries: [entry] },
        { header: batchHeader, entries: [{ ...entry, trace: '121042880000002' }] },
      ],
    ],
    ['reply_transaction_code', [{ header: batchHeader, entries: [{ ...entry, transactionCode: '21' }] }]],
    ['batch_control_company', [{ header: batchHeader, entries: [entry], controlCompanyId: '9876543210' }]],
  ])('refuses %s before a bank does', (rule, batches) => {
    expect(() => writeNacha({ ...forward, batches })).toThrow(new RegExp(rule));
  });

  it('refuses a header of a file that no bank would take', () => {
    const header = { ...forward.header, idModifier: 'a' };
    expect(() => writeNacha({ ...forward, header })).toThrow(/file_id_modifier/);
  });

  it('refuses a total that outgrows its twelve columns', () => {
    const entries = Array.from({ length: 101 }, (_, i) => ({
      ...entry,
      amountCents: 9_999_999_999,
      trace: `12104288${String(i + 1).padStart(7, '0')}`,
      addenda: [],
    }));
    expect(() => writeNacha({ ...forward, batches: [{ header: batchHeader, entries }] })).toThrow(
      NachaFileRefused,
    );
  });
});
