import { expect, test } from 'vitest';
import { jsonWithUnseenEscaped, withUnseenMarked } from './unseen.ts';

const BIDI = ['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'];
const INVISIBLE = [
  '\u00ad',
  '\u200b',
  '\u2060',
  '\ufeff',
  '\u3164',
  '\u2028',
  '\u0085',
  '\u001b',
  '\u{e0041}',
  '\u{e0100}',
];

test('what shows nothing or turns text around is seen by its number', () => {
  expect(withUnseenMarked('ada\u202emoc.live@x')).toBe('ada⟨U+202E⟩moc.live@x');
  for (const one of [...BIDI, ...INVISIBLE]) {
    expect(withUnseenMarked(`a${one}b`)).toMatch(/^a⟨U\+[0-9A-F]{4,5}⟩b$/);
    const json = jsonWithUnseenEscaped(JSON.stringify({ [`k${one}`]: `v${one}` }));
    expect(json).not.toContain(one);
    expect(JSON.parse(json)).toEqual({ [`k${one}`]: `v${one}` });
  }
});

test('selectors of variants that hide a text of their own are seen', () => {
  expect(withUnseenMarked('\u2764\ufe0f\ufe01\ufe02')).toBe('\u2764\ufe0f⟨U+FE01⟩⟨U+FE02⟩');
  expect(withUnseenMarked('\u845b\u{e0100}\u{e0101}')).toBe('\u845b\u{e0100}⟨U+E0101⟩');
});

test('what people write stays as it is', () => {
  for (const text of [
    'two\nlines\tand a tab',
    'family \u{1f468}\u200d\u{1f469}\u200d\u{1f467} and \u2764\ufe0f',
    '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
    '\u05e9\u05dc\u05d5\u05dd (\u200fabc)',
    '\u845b\u{e0100}\u98fe',
    'na\u00efve \u65e5\u672c\u8a9e',
  ]) {
    expect(withUnseenMarked(text)).toBe(text);
    expect(jsonWithUnseenEscaped(text)).toBe(text);
  }
});
