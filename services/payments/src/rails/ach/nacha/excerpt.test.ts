import { describe, expect, it } from 'vitest';
import { planFiles } from '../outgoing/files.ts';
import { aLeg, anOriginator } from '../test/legs.ts';
import { excerptText } from './excerpt.ts';
import type { NachaFile } from './model.ts';
import { readNacha } from './read.ts';
import { changeBatch, repliesOf, returnBatch } from './replies.ts';
import { NachaFileRefused, writeNacha } from './write.ts';

function sentFile(): NachaFile {
  const legs = ['pay_a', 'pay_b', 'pay_c'].flatMap((id, index) => [
    aLeg({ id, direction: 'debit', amountCents: 100 + index, description: `for ${id}` }),
    aLeg({ id, direction: 'credit', amountCents: 100 + index }),
  ]);
  const plan = planFiles({
    legs,
    originator: anOriginator,
    createdAt: new Date('2026-11-16T15:00:00Z'),
    firstTraceSequence: 1,
    fileOfDay: 0,
  });
  return plan.files[0] as NachaFile;
}

describe('excerptText', () => {
  it('shows a payment its two legs, and nothing of others', () => {
    const text = writeNacha(sentFile());
    const excerpt = excerptText(text, new Set(['121042880000002', '121042880000005']));
    expect(excerpt?.split('\n')).toEqual([
      '101 231380104 1210428822611161000A094101FEDERAL RESERVE BANK   MY BANK                        ',
      '5220ACME                                1234567890PPDPAYMENT         261117   1121042880000001',
      '62223138010412345678         0000000101pay_b          Jane Doe                0121042880000002',
      '822000000100231380100000000000000000000001011234567890                         121042880000001',
      '5225ACME                                1234567890WEBPAYMENT         261117   1121042880000002',
      '62723138010412345678         0000000101pay_b          Jane Doe              S 1121042880000005',
      '705for pay_b                                                                       00010000005',
      '822500000200231380100000000001010000000000001234567890                         121042880000002',
      '9000002000001000000030046276020000000000101000000000101                                       ',
      '9'.repeat(94),
      '',
    ]);
  });

  it('takes the line breaks and short lines of banks', () => {
    const text = writeNacha(sentFile());
    const traces = new Set(['121042880000004']);
    const sent = text
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\r\n');
    expect(excerptText(sent, traces)).toBe(excerptText(text, traces));
  });

  it('is nothing where no entry is meant', () => {
    expect(excerptText(writeNacha(sentFile()), new Set(['121042880000099']))).toBeUndefined();
    expect(excerptText('', new Set(['121042880000001']))).toBeUndefined();
    expect(excerptText(writeNacha(sentFile()), new Set())).toBeUndefined();
  });

  it('refuses a text that no reader would have taken', () => {
    const text = writeNacha(sentFile()).replace('0000000101pay_b', '00000x0101pay_b');
    expect(() => excerptText(text, new Set(['121042880000002']))).toThrow(NachaFileRefused);
  });
});

describe('an excerpt of replies', () => {
  it("goes by the trace that is answered, not by the bank's own", () => {
    const file = sentFile();
    const credits = file.batches[0];
    const [first, second] = credits?.entries ?? [];
    if (!credits || !first || !second) throw new Error('The file has credits.');
    // The bank of the receiver is our own here, so its numbers look like ours.
    const own = (entry: typeof first) => ({ ...entry, routingNumber: '121042882' });
    const to = { header: credits.header, effectiveDate: '261118' };
    const change = changeBatch({ ...to, entry: own(second), traceSequence: 1, batchNumber: 2 }, 'C02', {
      routingNumber: '231380104',
    });
    if (!change.ok) throw new Error(change.detail);
    const replies: NachaFile = {
      header: file.header,
      batches: [
        returnBatch({ ...to, entry: own(first), traceSequence: 2, batchNumber: 1 }, { code: 'R01' }),
        change.batch,
      ],
    };
    const text = excerptText(writeNacha(replies), new Set([first.trace]));
    const read = readNacha(text ?? '');
    expect(read.ok && repliesOf(read.file)).toMatchObject([
      { kind: 'return', code: 'R01', originalTrace: first.trace, trace: second.trace },
    ]);
  });
});
