import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyText } from '../rtp/messages/testing.ts';
import { TEXT_FIELDS, toNetworkText } from './characters.ts';

describe('toNetworkText', () => {
  test.each([
    ['Ana Paula', 'Ana Paula'],
    ['José Ñandú Müller', 'Jose Nandu Muller'],
    ['Łukasz Øster Straße', 'Lukasz Oster Strasse'],
    ['Ǿrsted & Ægir', 'Orsted & AEgir'],
    ['O’Brien – “Best” …', 'O\'Brien - "Best" ...'],
    ['Smith & Sons <LLC>', 'Smith & Sons <LLC>'],
    ['ＦＵＬＬ ﬁrm ①', 'FULL firm 1'],
    ['👩‍👩‍👧 Grün 🎉', 'Grun'],
    ['  two   spaces\tand\r\nlines  ', 'two spaces and lines'],
    ['non\u00a0breaking\u200bzero', 'non breakingzero'],
    ['Nguyễn Thị Hương', 'Nguyen Thi Huong'],
    ['100 € · 5 £', '100 EUR . 5 GBP'],
    ['محمد Ali', 'Ali'],
  ])('maps %j', (text, mapped) => {
    expect(toNetworkText(text, TEXT_FIELDS.partyName)).toBe(mapped);
  });

  test.each(['', '   ', '🎉', '山田太郎', 'محمد', '\u0000\u200d'])(
    'falls back where nothing is left of %j',
    (text) => {
      expect(toNetworkText(text, TEXT_FIELDS.partyName)).toBe('NOTPROVIDED');
      expect(toNetworkText(text, TEXT_FIELDS.remittance)).toBeNull();
    },
  );

  test('yields printable text within the limit, and the same again when mapped again', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom(...Object.values(TEXT_FIELDS)), (text, field) => {
        const mapped = toNetworkText(text, field);
        if (mapped === null) return;
        expect(mapped).toMatch(/^[!-~]+(?: [!-~]+)*$/);
        expect(mapped.length).toBeLessThanOrEqual(field.lengthMax);
        expect(toNetworkText(mapped, field)).toBe(mapped);
      }),
      { numRuns: 500 },
    );
  });

  test('cuts at the limit, without a space at the end', () => {
    expect(toNetworkText('x'.repeat(300), TEXT_FIELDS.partyName)).toBe('x'.repeat(140));
    expect(toNetworkText(`${'x'.repeat(139)} y`, TEXT_FIELDS.partyName)).toBe('x'.repeat(139));
    expect(toNetworkText(`${'é'.repeat(139)} é`, TEXT_FIELDS.partyName)).toBe('e'.repeat(139));
  });
});
