import { nextTurn } from '@libs/runtime';

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/** Far longer than any post; it also is how much is read before others get their turn. */
const POST_LENGTH_MAX = 64 * 1024;
/** Read at once, before the first turn of its own: many answers may arrive in one turn. */
const LENGTH_AT_ONCE = 8 * 1024;

export type ReadPost = (html: string) => Promise<string>;

/**
 * Reads the posts of one answer, one after the other. Anybody may run such a server, so a post is cut before it is looked
 * at, and however many long ones there are, they hold up nobody.
 */
export function createPostReader(pause: () => Promise<unknown> = nextTurn): ReadPost {
  let lengthThisTurn = POST_LENGTH_MAX - LENGTH_AT_ONCE;
  return async (html) => {
    const read = html.slice(0, POST_LENGTH_MAX);
    if (lengthThisTurn + read.length > POST_LENGTH_MAX) {
      await pause();
      lengthThisTurn = 0;
    }
    lengthThisTurn += read.length;
    return read.length < html.length ? `${plainText(read.toWellFormed())}…` : plainText(read);
  };
}

/**
 * The text of the little HTML that social networks send for a post: paragraphs, line breaks, lists, links. It is for reading
 * only and never put into a page.
 */
function plainText(html: string): string {
  return html
    .replace(/<br\s*\/?>/gi, '\n')
    .replace(/<\/p>\s*<p[^<>]*>/gi, '\n\n')
    .replace(/<\/(?:p|li|blockquote|pre|h[1-6])>/gi, '\n')
    .replace(/<li[^<>]*>/gi, '• ')
    .replace(/<[^<>]*>/g, '')
    .replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hex, name) => {
      if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
      return isCharacter ? String.fromCodePoint(code) : '';
    })
    .trim();
}
