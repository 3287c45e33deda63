/**
 * Characters that show nothing, or show others in another order: somebody who decides by what they read must see that
 * they are there. Line breaks and tabs are seen as what they are; joiners belong to letters and emoji, and the marks of
 * direction (U+200E, U+200F, U+061C) to texts that are written from right to left, whose letters they do not move. A selector of a variant belongs to the letter or emoji before it; several in a row
 * belong to none, and hide a text of their own.
 */
const UNSEEN =
  /(?![\n\r\t\u200c-\u200f\u061c\u0600-\u0605\u06dd\u070f\u08e2])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]|(?<!\p{Script=Han})[\u{e0100}-\u{e01ef}]/gu;
const HEX = 16;

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(HEX).toUpperCase().padStart(4, '0');
}

/** Each of them by its number: `⟨U+202E⟩`. */
export function withUnseenMarked(text: string): string {
  return text.replaceAll(UNSEEN, (character) => `⟨U+${codeOf(character)}⟩`);
}

/** The same in JSON, which has its own way to write them. */
export function jsonWithUnseenEscaped(json: string): string {
  return json.replaceAll(UNSEEN, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      const unit = character.charCodeAt(index).toString(HEX).padStart(4, '0');
      return `\\u${unit}`;
    }).join(''),
  );
}
