/** Letters that Unicode does not take apart into a base letter and a mark. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ['ß', 'ss'],
  ['ẞ', 'SS'],
  ['Æ', 'AE'],
  ['æ', 'ae'],
  ['Œ', 'OE'],
  ['œ', 'oe'],
  ['Ø', 'O'],
  ['ø', 'o'],
  ['Ł', 'L'],
  ['ł', 'l'],
  ['Đ', 'D'],
  ['đ', 'd'],
  ['Ð', 'D'],
  ['ð', 'd'],
  ['Þ', 'Th'],
  ['þ', 'th'],
  ['Ħ', 'H'],
  ['ħ', 'h'],
  ['ı', 'i'],
  ['Ŋ', 'N'],
  ['ŋ', 'n'],
  ['‘', "'"],
  ['’', "'"],
  ['‚', "'"],
  ['ʻ', "'"],
  ['ʼ', "'"],
  ['“', '"'],
  ['”', '"'],
  ['„', '"'],
  ['‐', '-'],
  ['‑', '-'],
  ['–', '-'],
  ['—', '-'],
  ['−', '-'],
  ['×', 'x'],
  ['⁄', '/'],
  ['€', 'EUR'],
  ['£', 'GBP'],
]);

const WHITE_SPACE = /\s+/gu;
const PRINTABLE = /^[\x20-\x7e]*$/;
const BLANKS = / {2,}/;

/**
 * Text for a file whose alphabet is printable ASCII: accents folded, typography made plain, the rest (emoji, other
 * scripts) dropped, white space made single blanks. Cut to `width` with no blank at either end.
 */
export function toAscii(text: string, width: number): string {
  // Most text is plain already, and files have a hundred thousand names.
  if (PRINTABLE.test(text) && !BLANKS.test(text)) return text.trimStart().slice(0, width).trimEnd();
  let result = '';
  for (const char of text.normalize('NFKD').replace(WHITE_SPACE, ' ')) {
    if (PRINTABLE.test(char)) result += char;
    else result += LETTERS.get(char) ?? '';
  }
  return result.replace(WHITE_SPACE, ' ').trimStart().slice(0, width).trimEnd();
}
