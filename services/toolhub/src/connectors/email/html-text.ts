import { simpleParser } from 'mailparser';

/** Beyond these the converter, which walks the tree by recursion, takes seconds or gives up. */
const HTML_LENGTH_MAX = 128 * 1024;
const OPEN_TAGS_MAX = 1_000;

/** Text of a message that only has HTML. What was made to hurt the converter is read plainly: its words, in order. */
export async function textOfHtml(html: string): Promise<string> {
  if (html.length > HTML_LENGTH_MAX || openTags(html) > OPEN_TAGS_MAX) return wordsOf(html);
  const { text } = await simpleParser(`Content-Type: text/html; charset=utf-8\r\n\r\n${html}`, {
    skipTextToHtml: true,
    skipImageLinks: true,
  });
  return (text ?? '').trim();
}

/** How deep the tree can be at most: tags that need no end count too, which only errs on the safe side. */
function openTags(html: string): number {
  let open = 0;
  let most = 0;
  for (const { 1: slash } of html.matchAll(/<(\/?)[a-z]/gi)) {
    open = slash === '' ? open + 1 : Math.max(0, open - 1);
    most = Math.max(most, open);
  }
  return most;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' };

/** Every search goes on where the one before ended, so the time grows with the length alone. */
function wordsOf(html: string): string {
  const pieces: string[] = [];
  const lower = html.toLowerCase();
  let position = 0;
  while (position < html.length) {
    const start = html.indexOf('<', position);
    if (start < 0) break;
    pieces.push(html.slice(position, start), ' ');
    const hidden = ['script', 'style'].find((name) => lower.startsWith(name, start + 1));
    const end = html.indexOf('>', hidden === undefined ? start : endOfHidden(lower, hidden, start));
    position = end < 0 ? html.length : end + 1;
  }
  pieces.push(html.slice(position));
  const text = pieces
    .join('')
    .replaceAll(/&(amp|lt|gt|quot|nbsp);/g, (_whole, name: string) => ENTITIES[name] ?? ' ');
  return text.replaceAll(/\s+/g, ' ').trim();
}

function endOfHidden(lower: string, name: string, start: number): number {
  const end = lower.indexOf(`</${name}`, start);
  return end < 0 ? lower.length : end;
}
