import { expect, test } from 'vitest';
import { littleText } from './little-text.ts';

test.each([
  ['#one (#two_b) x\n#three', '{hashtag|\\#|one} \\({hashtag|\\#|two\\_b}\\) x\n{hashtag|\\#|three}'],
  // What stands in an address or behind a word is no hashtag to anybody who reads it.
  ['https://example.com/docs#install', 'https://example.com/docs\\#install'],
  ['C#dev and F# and ##x', 'C\\#dev and F\\# and \\#\\#x'],
  ['[#four] “#five”', '\\[{hashtag|\\#|four}\\] “{hashtag|\\#|five}”'],
  // Vowels and tones of many scripts are marks of their own behind their letter.
  ['#हिन्दी और #ไทยที่', '{hashtag|\\#|हिन्दी} और {hashtag|\\#|ไทยที่}'],
])('%j is written as %j', (text, written) => {
  expect(littleText(text)).toBe(written);
});
