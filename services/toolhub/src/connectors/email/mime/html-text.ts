import { nextTurn } from '@libs/runtime';
import { Tokenizer } from 'htmlparser2';

/** No mail says more than this; markup that would (prefixes of deep quotations, long lists) is cut here. */
export const TEXT_LENGTH_MAX = 256 * 1024;
/** Beyond this depth, lists and quotations look like their parents. */
const DEPTH_SHOWN_MAX = 8;
const LISTS_MAX = 100;
/** Read in one go; in between, everything else that this process does gets its turn. */
const TURN_LENGTH = 8 * 1024;
const ADDRESS_LENGTH_MAX = 2_000;
const LIST_START_MAX = 1_000_000;

/** What stands on lines of its own, and how many line breaks are around it. */
const BLOCKS: Readonly<Record<string, 1 | 2>> = {
  ...Object.fromEntries(
    ['address', 'article', 'aside', 'caption', 'center', 'dd', 'div', 'dt', 'fieldset', 'figcaption'].map(
      (name) => [name, 1],
    ),
  ),
  ...Object.fromEntries(
    ['figure', 'footer', 'form', 'header', 'hr', 'li', 'main', 'nav', 'section', 'tr'].map((name) => [
      name,
      1,
    ]),
  ),
  ...Object.fromEntries(
    ['blockquote', 'dl', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ol', 'p', 'pre', 'table', 'ul'].map((name) => [
      name,
      2,
    ]),
  ),
};
const HIDDEN: ReadonlySet<string> = new Set(['script', 'style', 'title', 'template']);
const SHOWN_ADDRESS = /^(?:https?|mailto|tel):/i;

export interface PlainText {
  value: string;
  truncated: boolean;
}

/**
 * Text of a message that only has HTML. It reads the tags one after the other and builds no tree, so that its time and
 * its result grow with the length alone, whatever is nested in whatever.
 */
export async function textOfHtml(html: string): Promise<PlainText> {
  const writer = createWriter();
  let name = '';
  let attribute = '';
  let value = '';
  let attributes: Record<string, string> = {};
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      ontext: (start, end) => write(html.slice(start, end)),
      ontextentity: (codepoint) => write(String.fromCodePoint(codepoint)),
      onopentagname: (start, end) => {
        name = html.slice(start, end).toLowerCase();
        attributes = {};
      },
      onattribname: (start, end) => {
        attribute = html.slice(start, end).toLowerCase();
        value = '';
      },
      onattribdata: (start, end) => {
        value += html.slice(start, Math.min(end, start + ADDRESS_LENGTH_MAX));
      },
      onattribentity: (codepoint) => {
        value += String.fromCodePoint(codepoint);
      },
      onattribend: () => {
        if (READ_ATTRIBUTES.has(attribute)) attributes[attribute] ??= value.slice(0, ADDRESS_LENGTH_MAX + 1);
      },
      onopentagend: () => writer.open(name, attributes),
      onselfclosingtag: () => writer.open(name, attributes),
      onclosetag: (start, end) => writer.close(html.slice(start, end).toLowerCase()),
      oncdata: (start, end, offset) => write(html.slice(start, end - offset)),
      oncomment: () => {},
      ondeclaration: () => {},
      onprocessinginstruction: () => {},
      onend: () => {},
    },
  );
  function write(text: string): void {
    writer.text(text);
    if (writer.isFull()) tokenizer.pause();
  }
  for (let start = 0; start < html.length && !writer.isFull(); start += TURN_LENGTH) {
    if (start > 0) await nextTurn();
    tokenizer.write(html.slice(start, start + TURN_LENGTH));
  }
  if (!writer.isFull()) tokenizer.end();
  return writer.end();
}

const READ_ATTRIBUTES: ReadonlySet<string> = new Set(['href', 'alt', 'start']);

interface OpenList {
  /** Null for one without numbers. */
  next: number | null;
}

function createWriter() {
  const pieces: string[] = [];
  let length = 0;
  let isTruncated = false;
  /** Line breaks that are due before the next word; a space likewise. */
  let breaks = 0;
  let isSpaceDue = false;
  let isLineEmpty = true;
  let hidden: string | null = null;
  let quotes = 0;
  let preformatted = 0;
  let link: { address: string; from: number } | null = null;
  let bullet = '';
  const lists: OpenList[] = [];

  function push(text: string): void {
    const room = TEXT_LENGTH_MAX - length;
    if (text.length > room) isTruncated = true;
    const piece = text.length > room ? text.slice(0, room) : text;
    pieces.push(piece);
    length += piece.length;
  }

  function startLine(): void {
    const indent = bullet === '' ? lists.length : lists.length - 1;
    push(
      '> '.repeat(Math.min(quotes, DEPTH_SHOWN_MAX)) +
        '  '.repeat(Math.min(Math.max(indent, 0), DEPTH_SHOWN_MAX)) +
        bullet,
    );
    bullet = '';
    isLineEmpty = false;
  }

  function word(text: string): void {
    if (breaks > 0 && length > 0) push('\n'.repeat(breaks));
    else if (isSpaceDue && !isLineEmpty) push(' ');
    if (breaks > 0) isLineEmpty = true;
    breaks = 0;
    isSpaceDue = false;
    if (isLineEmpty) startLine();
    push(text);
  }

  function lineBreak(count: 1 | 2): void {
    // Nothing was written since the last one: paragraphs do not add up.
    breaks = Math.max(breaks, count);
    isSpaceDue = false;
  }

  function preformattedText(text: string): void {
    for (const [index, line] of text.split(/\r?\n/, LINES_MAX).entries()) {
      if (index > 0) breaks = Math.min(breaks + 1, 2);
      if (line !== '') word(line);
    }
  }

  function beginItem(): void {
    const list = lists.at(-1);
    if (list?.next == null) bullet = '* ';
    else {
      bullet = `${list.next}. `;
      list.next += 1;
    }
  }

  function endLink(): void {
    if (link === null) return;
    const { address, from } = link;
    link = null;
    const shown = pieces
      .slice(from, from + LINK_PIECES_MAX)
      .join('')
      .trim();
    const isShownAlready = shown === address || `mailto:${shown}` === address;
    if (SHOWN_ADDRESS.test(address) && address.length <= ADDRESS_LENGTH_MAX && !isShownAlready) {
      isSpaceDue = true;
      word(`[${address}]`);
    }
  }

  return {
    isFull: () => length >= TEXT_LENGTH_MAX,
    text(text: string): void {
      if (hidden !== null) return;
      if (preformatted > 0) {
        preformattedText(text);
        return;
      }
      let start = 0;
      for (const { index, 0: space } of text.matchAll(/[\s\u00a0]+/g)) {
        if (index > start) word(text.slice(start, index));
        isSpaceDue = true;
        start = index + space.length;
      }
      if (start < text.length) word(text.slice(start));
    },
    open(name: string, attributes: Readonly<Record<string, string>>): void {
      if (hidden !== null) return;
      if (HIDDEN.has(name)) hidden = name;
      else if (name === 'br') breaks = Math.min(breaks + 1, 2);
      else if (name === 'td' || name === 'th') isSpaceDue = true;
      else if (name === 'a') {
        endLink();
        if (attributes.href !== undefined) link = { address: attributes.href.trim(), from: pieces.length };
      } else if (name === 'img' && attributes.alt)
        word(attributes.alt.replaceAll(/\s+/g, ' ').slice(0, ADDRESS_LENGTH_MAX));
      const around = BLOCKS[name];
      if (around !== undefined)
        lineBreak(name === 'ul' || name === 'ol' ? (lists.length > 0 ? 1 : 2) : around);
      if (name === 'blockquote') quotes += 1;
      else if (name === 'pre') preformatted += 1;
      else if ((name === 'ul' || name === 'ol') && lists.length < LISTS_MAX) {
        lists.push({ next: name === 'ol' ? firstNumber(attributes.start) : null });
      } else if (name === 'li') beginItem();
    },
    close(name: string): void {
      if (hidden !== null) {
        if (name === hidden) hidden = null;
        return;
      }
      if (name === 'a') endLink();
      if (BLOCKS[name] !== undefined) lineBreak(BLOCKS[name]);
      if (name === 'li') bullet = '';
      else if (name === 'blockquote') quotes = Math.max(0, quotes - 1);
      else if (name === 'pre') preformatted = Math.max(0, preformatted - 1);
      else if (name === 'ul' || name === 'ol') lists.pop();
    },
    end(): PlainText {
      endLink();
      return { value: pieces.join('').trim(), truncated: isTruncated || length >= TEXT_LENGTH_MAX };
    },
  };
}

const LINES_MAX = 100_000;
const LINK_PIECES_MAX = 1_000;

function firstNumber(start: string | undefined): number {
  const number = Number(start);
  return start !== undefined && Number.isInteger(number) && Math.abs(number) <= LIST_START_MAX ? number : 1;
}
