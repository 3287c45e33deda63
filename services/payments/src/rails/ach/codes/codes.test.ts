import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { routingNumberOf } from '../../routing-number.ts';
import { CHANGE_REASONS, isChangeCode, isReturnCode, RETURN_REASONS, returnReason } from './codes.ts';
import { formatCorrectedData, parseCorrectedData } from './corrected-data.ts';

describe('return codes', () => {
  it('are known, each with a failure code of its own', () => {
    const reasons = [...RETURN_REASONS.values()];
    expect(new Set(reasons.map((reason) => reason.failureCode)).size).toBe(reasons.length);
    for (const reason of reasons) expect(reason.failureCode).toMatch(/^[a-z]+(_[a-z]+)*$/);
    for (const reason of reasons) expect(reason.code).toMatch(/^R\d\d$/);
    expect(isReturnCode('R01')).toBe(true);
    expect(isReturnCode('R99')).toBe(false);
    expect(isReturnCode('r01')).toBe(false);
  });

  it('may be presented again for lack of money only', () => {
    const again = [...RETURN_REASONS.values()].filter((reason) => reason.representable);
    expect(again.map((reason) => reason.code)).toEqual(['R01', 'R09']);
    expect(returnReason('R01').failureCode).toBe('insufficient_funds');
  });
});

describe('corrected data', () => {
  it.each([
    ['C01', '1918171614', { accountNumber: '1918171614' }],
    ['C02', '231380104', { routingNumber: '231380104' }],
    ['C03', '231380104   744-5678-99', { routingNumber: '231380104', accountNumber: '744-5678-99' }],
    ['C04', 'Wade Arnold', { name: 'Wade Arnold' }],
    ['C05', '32', { transactionCode: '32' }],
    ['C06', '744-5678-99         37', { accountNumber: '744-5678-99', transactionCode: '37' }],
    [
      'C07',
      '2313801041234567890123456732 ',
      { routingNumber: '231380104', accountNumber: '12345678901234567', transactionCode: '32' },
    ],
    ['C09', 'ID-77', { individualId: 'ID-77' }],
    ['C13', '', {}],
  ])('of %s is read from its columns and written back', (code, data, correction) => {
    expect(parseCorrectedData(code, data)).toEqual({ ok: true, correction });
    const padded = data.padEnd(29);
    expect(formatCorrectedData(code, correction)).toEqual({ ok: true, data: padded });
    expect(parseCorrectedData(code, padded)).toEqual({ ok: true, correction });
  });

  it.each([
    ['C03', '231380104 744567899', { routingNumber: '231380104', accountNumber: '744567899' }],
    ['C03', '231380104744567899', { routingNumber: '231380104', accountNumber: '744567899' }],
    ['C06', '744567899 37', { accountNumber: '744567899', transactionCode: '37' }],
    ['C06', '744567899                  37', { accountNumber: '744567899', transactionCode: '37' }],
    [
      'C07',
      '231380104744567899 32',
      { routingNumber: '231380104', accountNumber: '744567899', transactionCode: '32' },
    ],
  ])('of %s may stand one blank apart (%s)', (code, data, correction) => {
    expect(parseCorrectedData(code, data)).toEqual({ ok: true, correction });
  });

  it.each([
    ['C99', '1', 'code_unknown'],
    ['C01', '', 'data_malformed'],
    ['C02', '231380105', 'data_malformed'],
    ['C02', '12345', 'data_malformed'],
    ['C03', '231380104', 'data_malformed'],
    ['C05', '99', 'data_malformed'],
    ['C06', '744567899', 'data_malformed'],
    ['C07', '231380104', 'data_malformed'],
    ['C01', 'x'.repeat(30), 'data_malformed'],
  ])('of %s %j is refused as %s', (code, data, reason) => {
    expect(parseCorrectedData(code, data)).toMatchObject({ ok: false, reason });
  });

  it('is not written when it does not fit', () => {
    expect(formatCorrectedData('C01', { accountNumber: '1'.repeat(18) })).toMatchObject({ ok: false });
    expect(formatCorrectedData('C01', { accountNumber: 'é' })).toMatchObject({ ok: false });
    expect(formatCorrectedData('C02', {})).toMatchObject({ ok: false });
    expect(formatCorrectedData('C77', {})).toMatchObject({ ok: false, reason: 'code_unknown' });
  });

  it('never repeats an account number in a refusal', () => {
    const refused = parseCorrectedData('C06', '744567899123');
    expect(JSON.stringify(refused)).not.toContain('744567899');
  });

  it('is read as it was written, whatever it is', () => {
    const word = (max: number) => fc.stringMatching(new RegExp(`^[A-Za-z0-9-]{1,${max}}$`));
    const correction = fc.record({
      routingNumber: fc.stringMatching(/^\d{8}$/).map(routingNumberOf),
      accountNumber: word(17),
      transactionCode: fc.constantFrom('22', '27', '32', '37'),
      name: word(22),
      individualId: word(22),
    });
    fc.assert(
      fc.property(fc.constantFrom(...CHANGE_REASONS.values()), correction, (reason, full) => {
        const parts = Object.keys(reason.layout) as (keyof typeof full)[];
        const wanted = Object.fromEntries(parts.map((name) => [name, full[name]]));
        const written = formatCorrectedData(reason.code, wanted);
        expect(written.ok).toBe(true);
        if (!written.ok) return;
        expect(written.data).toHaveLength(29);
        expect(parseCorrectedData(reason.code, written.data)).toEqual({ ok: true, correction: wanted });
        expect(isChangeCode(reason.code)).toBe(true);
      }),
    );
  });
});
