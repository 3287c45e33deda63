import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toPrintable } from './printable.ts';

/** A font with Latin, Greek, Cyrillic and Hebrew, and with combining marks, as the embedded one has. */
const RANGES = [
  [0x20, 0x24f],
  [0x300, 0x4ff],
  [0x5d0, 0x5ea],
] as const;
const hasGlyph = (codePoint: number) =>
  RANGES.some(([first, last]) => codePoint >= first && codePoint <= last);
const shown = (text: string) => toPrintable(text, hasGlyph).text;

describe('a text on a document', () => {
  test('stays as it is where the font has its letters', () => {
    for (const text of ['Ada Lovelace', 'Gesellschaft für Öl', 'Łódź', 'Αθήνα', 'Москва', '']) {
      expect(toPrintable(text, hasGlyph)).toEqual({ text, isComplete: true });
    }
    expect(shown('e\u0301')).toBe('é');
  });

  test('names what the font lacks instead of printing boxes', () => {
    expect(toPrintable('王小明', hasGlyph)).toEqual({ text: '[Chinese]', isComplete: false });
    expect(shown('王 小明 & Söhne Ltd')).toBe('[Chinese] & Söhne Ltd');
    expect(shown('株式会社ソニー')).toBe('[Japanese]');
    expect(shown('삼성전자 Co.')).toBe('[Korean] Co.');
    expect(shown('Ada 🚀👩‍👩‍👧 🇩🇪')).toBe('Ada [emoji]');
    expect(shown('مُحَمَّد')).toBe('[Arabic]');
    expect(shown('ไทย / ქართული')).toBe('[Thai] / [Georgian]');
    expect(shown('𐀀')).toBe('[other letters]');
  });

  test('has simpler forms of what has one', () => {
    expect(toPrintable('Ａｃｍｅ ﬁne 𝔄𝔅', hasGlyph)).toEqual({ text: 'Acme fine AB', isComplete: true });
    expect(shown('Ḁ')).toBe('A');
  });

  test('of the other direction is whole, or named', () => {
    expect(shown('שלום עולם')).toBe('שלום\u00a0עולם');
    expect(shown('שלום Ltd')).toBe('[Hebrew] Ltd');
    expect(shown('שלום '.repeat(20))).toBe('[Hebrew]');
  });

  test('keeps no line end and nothing that turns it around', () => {
    expect(shown('Ada\r\n\tLovelace\u2028 Ltd')).toBe('Ada Lovelace Ltd');
    expect(shown('Ada \u202eecalevoL\u0000\u200b')).toBe('Ada ecalevoL');
  });

  test('whatever it was, has only what the font has, and is complete or has brackets', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        const { text: printed, isComplete } = toPrintable(text, hasGlyph);
        for (const character of printed) expect(hasGlyph(character.codePointAt(0) as number)).toBe(true);
        if (!isComplete) expect(printed).toMatch(/\[[A-Za-z, ]+\]/);
      }),
    );
  });
});
