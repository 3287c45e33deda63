import type { LeafPart } from './mime-tree.ts';
import { decodeOldCharset } from './old-charsets.ts';

/** Names that mail programs write and the WHATWG list, which TextDecoder knows, does not have. */
const ALIASES: Readonly<Record<string, string>> = {
  cp932: 'shift_jis',
  cp936: 'gbk',
  cp949: 'euc-kr',
  cp950: 'big5',
  'iso-8859-8-i': 'iso-8859-8',
  'x-mac-roman': 'macintosh',
};
/** Names that say no more than none. */
const VAGUE = /unknown|default|binary|none|bit$|^utf/;
const CHARSET_SHOWN = /^[a-z0-9_.:-]{1,40}$/;
const UNNAMED: ReadonlySet<string> = new Set(['', 'us-ascii', 'ascii', 'unknown-8bit', 'utf8', 'utf-8']);

/** The text of a part, from its bytes without transfer encoding. A character that a cut tore apart is left out. */
export function decodeText(
  bytes: Uint8Array,
  part: Pick<LeafPart, 'charset' | 'isFlowed' | 'deletesSpace'> & Partial<Pick<LeafPart, 'contentType'>>,
): string {
  const text = decodeCharset(bytes, part).replaceAll('\r\n', '\n').replace(/\n$/, '');
  return part.isFlowed ? unflow(text, part.deletesSpace) : text;
}

function decodeCharset(
  bytes: Uint8Array,
  { charset, contentType }: Pick<LeafPart, 'charset'> & Partial<Pick<LeafPart, 'contentType'>>,
): string {
  const old = decodeOldCharset(bytes, charset);
  if (old !== undefined) return old;
  // In streaming mode, what is incomplete at the end is kept back instead of being replaced.
  const options = { stream: true };
  const decoder = UNNAMED.has(charset)
    ? undefined
    : decoderOf(charset === 'utf-16' ? byteOrderOf(bytes) : charset);
  // A name that nobody knows may stand for UTF-8 all the same (`utf8mb4`).
  if (decoder === undefined) {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes, options);
    } catch {
      // Not UTF-8, whatever the message says; Windows' Latin takes every byte.
      const text = new TextDecoder(charset.startsWith('utf') ? 'utf-8' : 'windows-1252').decode(
        bytes,
        options,
      );
      return UNNAMED.has(charset) || VAGUE.test(charset) ? text : noted(text, charset, contentType);
    }
  }
  return decoder.decode(bytes, options);
}

/** Whoever reads it has to know that the letters are guessed. */
function noted(text: string, charset: string, contentType: string | undefined): string {
  const name = CHARSET_SHOWN.test(charset) ? ` “${charset}”` : '';
  const note = `[Letters beyond ASCII may be wrong: the charset${name} of this text is not known here.]`;
  return contentType === 'text/html' ? `<p>${note}</p>\n${text}` : `${note}\n${text}`;
}

/** Its mark at the beginning says which byte of a pair comes first; without one it is the higher (RFC 2781 4.3). */
function byteOrderOf([first, second]: Uint8Array): string {
  return first === 0xff && second === 0xfe ? 'utf-16le' : 'utf-16be';
}

function decoderOf(charset: string): InstanceType<typeof TextDecoder> | undefined {
  try {
    return new TextDecoder(ALIASES[charset] ?? charset);
  } catch {
    return undefined;
  }
}

const QUOTES = /^>*/;

/** Joins the lines of a paragraph (RFC 3676 4); quotations keep their depth. */
function unflow(text: string, deletesSpace: boolean): string {
  const paragraphs: string[][] = [];
  let depthBefore = -1;
  let isOpen = false;
  for (const line of text.split('\n')) {
    const depth = QUOTES.exec(line)?.[0].length ?? 0;
    const stuffed = line.slice(depth);
    const content = stuffed.startsWith(' ') ? stuffed.slice(1) : stuffed;
    const goesOn = content.endsWith(' ') && content !== '-- ';
    const shown = goesOn && deletesSpace ? content.slice(0, -1) : content;
    if (isOpen && depth === depthBefore && content !== '-- ') paragraphs.at(-1)?.push(shown);
    else paragraphs.push([depth > 0 ? `${'>'.repeat(depth)} ` : '', shown]);
    depthBefore = depth;
    isOpen = goesOn;
  }
  return paragraphs.map((pieces) => pieces.join('')).join('\n');
}

/** As much of a text as fits into so many bytes of UTF-8. */
export function cutText(text: string, bytesMax: number): { value: string; truncated: boolean } {
  if (text.length * 3 <= bytesMax || Buffer.byteLength(text) <= bytesMax)
    return { value: text, truncated: false };
  const bytes = Buffer.from(text).subarray(0, bytesMax);
  return { value: new TextDecoder('utf-8').decode(bytes, { stream: true }), truncated: true };
}
