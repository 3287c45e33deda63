import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toAscii } from '../nacha/ascii.ts';
import { aLeg } from '../test/legs.ts';
import { chooseSec, entryOfGoodLeg, legRefusals, receiverName, receiverReference } from './legs.ts';

const TRACE = '121042880000001';

function entryOf(changes: Parameters<typeof aLeg>[0]) {
  const leg = aLeg(changes);
  expect(legRefusals(leg)).toEqual([]);
  return entryOfGoodLeg(leg, TRACE);
}

describe('chooseSec', () => {
  it('takes CCD for businesses, PPD to pay people, WEB to debit them', () => {
    expect(chooseSec({ holderType: 'business', direction: 'credit' })).toBe('CCD');
    expect(chooseSec({ holderType: 'business', direction: 'debit' })).toBe('CCD');
    expect(chooseSec({ holderType: 'individual', direction: 'credit' })).toBe('PPD');
    expect(chooseSec({ holderType: 'individual', direction: 'debit' })).toBe('WEB');
  });
});

describe('an entry', () => {
  it.each([
    ['checking', 'credit', false, '22'],
    ['checking', 'debit', false, '27'],
    ['savings', 'credit', false, '32'],
    ['savings', 'debit', false, '37'],
    ['checking', 'credit', true, '23'],
    ['checking', 'debit', true, '28'],
    ['savings', 'credit', true, '33'],
    ['savings', 'debit', true, '38'],
  ] as const)('%s, %s, prenote %s: code %s', (accountType, direction, prenote, code) => {
    const entry = entryOf({ accountType, direction, prenote, amountCents: prenote ? 0 : 5 });
    expect(entry.transactionCode).toBe(code);
    expect(entry.amountCents).toBe(prenote ? 0 : 5);
  });

  it('carries the description in one addenda record of eighty columns', () => {
    expect(entryOf({ description: 'Rent für März 🎉' }).addenda).toEqual([
      { type: '05', text: 'Rent fur Marz' },
    ]);
    expect(entryOf({ description: 'x'.repeat(140) }).addenda).toEqual([{ type: '05', text: 'x'.repeat(80) }]);
    for (const description of [null, '', '  ', '🎉']) expect(entryOf({ description }).addenda).toEqual([]);
  });

  it('marks WEB entries as single payments, and no others', () => {
    expect(entryOf({ direction: 'debit' }).discretionaryData).toBe('S');
    expect(entryOf({ direction: 'credit' }).discretionaryData).toBe('');
    expect(entryOf({ direction: 'credit', sec: 'WEB' }).discretionaryData).toBe('S');
  });

  it('names the payment by the end of its id', () => {
    expect(entryOf({ id: 'pay_01KA6Y3V9GZ8N2M4' }).individualId).toBe('KA6Y3V9GZ8N2M4'.padStart(15, '1'));
    expect(receiverReference('pay_1')).toBe('pay_1');
  });

  it.each([
    [{ routing: '231380105' }, ['routing_number_invalid']],
    [{ account: '' }, ['account_number_invalid']],
    [{ account: '123456789012345678' }, ['account_number_invalid']],
    [{ account: '12é' }, ['account_number_invalid']],
    [{ account: ' 12' }, ['account_number_invalid']],
    [{ amountCents: 0 }, ['amount_invalid']],
    [{ amountCents: 1.5 }, ['amount_invalid']],
    [{ amountCents: 10_000_000_000 }, ['amount_invalid']],
    [{ amountCents: 1, prenote: true }, ['amount_invalid']],
    [{ effectiveDate: '2026-02-30' }, ['effective_date_invalid']],
    [{ effectiveDate: '26-02-01' }, ['effective_date_invalid']],
    [{ effectiveDate: '1926-02-01' }, ['effective_date_invalid']],
    [{ sec: 'CCD' }, ['entry_class_not_allowed']],
    [{ sec: 'PPD', holderType: 'business' }, ['entry_class_not_allowed']],
    [
      { routing: '', account: '', amountCents: -1 },
      ['routing_number_invalid', 'account_number_invalid', 'amount_invalid'],
    ],
  ] as const)('refuses %j as %j', (changes, reasons) => {
    expect(legRefusals(aLeg(changes))).toEqual(reasons);
  });
});

describe('names in ASCII', () => {
  it.each([
    ['José Ñúñez', 'Jose Nunez'],
    ['Łukasz Żółć', 'Lukasz Zolc'],
    ['Søren Ærø', 'Soren AEro'],
    ['Straße', 'Strasse'],
    ['İbrahim Işık', 'Ibrahim Isik'],
    ['O’Brien – “Bob”', 'O\'Brien - "Bob"'],
    ['Zoë 🎉 Müller', 'Zoe Muller'],
    ['👩‍👩‍👧 Smith', 'Smith'],
    ['Ｆｕｌｌ ｗｉｄｔｈ', 'Full width'],
    ['½ Off™', '1/2 OffTM'],
    ['a\tb\nc', 'a b c'],
    ['  Jane   Doe  ', 'Jane Doe'],
    ['Maximilian Alexander Hohenzollern', 'Maximilian Alexander H'],
    ['A234567890123456789012 x', 'A234567890123456789012'],
    ['A23456789012345678901  x', 'A23456789012345678901'],
    ['李小龍', 'ACCOUNT HOLDER'],
    ['', 'ACCOUNT HOLDER'],
  ])('%j becomes %j', (name, expected) => {
    expect(receiverName(name)).toBe(expected);
  });

  it('are printable, short enough and without blanks at the ends, whatever they were', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 80 }), (text, width) => {
        const ascii = toAscii(text, width);
        expect(ascii).toMatch(/^[\x20-\x7e]*$/);
        expect(ascii.length).toBeLessThanOrEqual(width);
        expect(ascii).toBe(ascii.trim());
        expect(toAscii(ascii, width)).toBe(ascii);
      }),
    );
  });
});
