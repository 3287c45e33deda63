/** What a text becomes on a document whose font lacks some of its characters. */
export interface Printable {
  text: string;
  /** Whether something had to be replaced by a word in brackets. */
  isComplete: boolean;
}

type HasGlyph = (codePoint: number) => boolean;

const PLAIN = /^[\x20-\x7e]*$/;
/** Characters that are not seen; marks of direction would turn the text around. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Variation_Selector}]+/gu;
const MARKS = /\p{M}+/gu;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;
const ALL_RIGHT_TO_LEFT = /^[\p{Script=Hebrew} ]+$/u;
const ONE_DIRECTION_MAX = 30;
const NO_BREAK = '\u00a0';
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

const SCRIPTS: readonly (readonly [string, RegExp])[] = [
  ['Japanese', /[\p{Script_Extensions=Hiragana}\p{Script_Extensions=Katakana}]/u],
  ['Korean', /\p{Script=Hangul}/u],
  ['Chinese', /[\p{Script=Han}\p{Script=Bopomofo}]/u],
  ['Arabic', /\p{Script=Arabic}/u],
  ['Hebrew', /\p{Script=Hebrew}/u],
  ['Devanagari', /\p{Script=Devanagari}/u],
  ['Bengali', /\p{Script=Bengali}/u],
  ['Tamil', /\p{Script=Tamil}/u],
  ['Telugu', /\p{Script=Telugu}/u],
  ['Thai', /\p{Script=Thai}/u],
  ['Georgian', /\p{Script=Georgian}/u],
  ['Armenian', /\p{Script=Armenian}/u],
  ['Amharic', /\p{Script=Ethiopic}/u],
  ['emoji', /[\p{Extended_Pictographic}\p{Regional_Indicator}]/u],
];

/**
 * A character that the font lacks is written in a simpler form where there is one (full-width letters, ligatures), and
 * is otherwise named in brackets: an empty box tells nobody that something is missing, nor what.
 */
export function toPrintable(text: string, hasGlyph: HasGlyph): Printable {
  if (PLAIN.test(text)) return { text, isComplete: true };
  const parts: string[] = [];
  let missing: string[] = [];
  let isComplete = true;
  const nameMissing = () => {
    if (missing.length > 0) parts.push(`[${labelOf(missing)}]`);
    missing = [];
  };
  const visible = text.toWellFormed().normalize('NFC').replaceAll(/\s+/gu, ' ').trim();
  if (isOneDirection(visible, hasGlyph)) return { text: visible.replaceAll(' ', NO_BREAK), isComplete: true };
  for (const { segment } of graphemes.segment(visible)) {
    const shown = RIGHT_TO_LEFT.test(segment) ? undefined : shownAs(segment, hasGlyph);
    if (shown === undefined) {
      missing.push(scriptOf(segment));
      isComplete = false;
      continue;
    }
    // Spaces between two characters that are missing belong to what is missing.
    if (shown === ' ' && missing.length > 0) {
      missing.push(' ');
      continue;
    }
    const isAfterSpace = missing.at(-1) === ' ';
    nameMissing();
    parts.push(isAfterSpace ? ` ${shown}` : shown);
  }
  nameMissing();
  return { text: parts.join(''), isComplete };
}

/**
 * The library lays every word out in its own direction and the words from left to right. So words of the other direction
 * come out right when they are all of it and are joined to one, which must be short enough for its line.
 */
function isOneDirection(text: string, hasGlyph: HasGlyph): boolean {
  return (
    text.length <= ONE_DIRECTION_MAX &&
    ALL_RIGHT_TO_LEFT.test(text) &&
    [...text].every((character) => hasGlyph(character.codePointAt(0) ?? 0))
  );
}

/** Undefined where the font has neither the character nor a simpler form of it. */
function shownAs(segment: string, hasGlyph: HasGlyph): string | undefined {
  const seen = segment.replaceAll(UNSEEN, '');
  const isThere = (form: string) => [...form].every((character) => hasGlyph(character.codePointAt(0) ?? 0));
  if (isThere(seen)) return seen;
  const simple = seen.normalize('NFKD').replaceAll(MARKS, '');
  return simple !== '' && isThere(simple) ? simple : undefined;
}

function scriptOf(segment: string): string {
  return SCRIPTS.find(([, pattern]) => pattern.test(segment))?.[0] ?? 'other letters';
}

function labelOf(missing: readonly string[]): string {
  const kinds = new Set(missing.filter((kind) => kind !== ' '));
  // Japanese is written with Chinese characters, too.
  if (kinds.has('Japanese')) kinds.delete('Chinese');
  return [...kinds].join(', ');
}
