import type { ImapFlow } from 'imapflow';
import { type PlainText, textOfHtml } from '../mime/html-text.ts';
import type { BodySection, LeafPart, MimeTree } from '../mime/mime-tree.ts';
import { keyOf, readWindow } from '../mime/part-reader.ts';
import { cutText, decodeText } from '../mime/text-part.ts';

const BODY_BYTES_MAX = 256 * 1024;
/** Base64 takes a third more and quoted-printable up to three times as much; beyond that it is white space. */
const BODY_ENCODED_BYTES_MAX = 4 * BODY_BYTES_MAX;
const BODY_CHUNK_BYTES = 128 * 1024;

export type BodyFormat = 'full' | 'text' | 'html';

interface MailBody {
  text: PlainText | null;
  html: PlainText | null;
}

type ReadParts = ReadonlyMap<LeafPart, PlainText>;

/** Every part belongs to both bodies, in their order; of those that say the same, each body has its own (RFC 8621 4.1.4). */
export async function readMailBody(
  client: ImapFlow,
  uid: number,
  { tree, format }: { tree: MimeTree; format: BodyFormat },
): Promise<MailBody> {
  const html = await readParts(client, uid, { parts: tree.html, tree });
  const plainParts = tree.sections.flatMap((section) => plainWanted(section, { tree, format }));
  const plain = await readParts(client, uid, { parts: plainParts, tree });
  const read = new Map([...html, ...plain]);
  return {
    text: format === 'html' ? null : await joinText(tree, read),
    html: format === 'text' || tree.html.length === 0 ? null : joinHtml(tree, read),
  };
}

/** For the HTML alone only the text is read that stands beside it and that it does not repeat. */
function plainWanted(
  section: BodySection,
  { tree, format }: { tree: MimeTree; format: BodyFormat },
): LeafPart[] {
  const isWanted = format !== 'html' || (tree.html.length > 0 && section.html.length === 0);
  return isWanted ? section.text : [];
}

async function joinText(tree: MimeTree, read: ReadParts): Promise<PlainText | null> {
  if (tree.text.length + tree.html.length === 0) return null;
  const pieces: PlainText[] = [];
  for (const section of tree.sections) {
    const plain = plainPieces(section, { tree, read });
    if (plain.length > 0) pieces.push(...plain);
    else for (const piece of piecesOf(section.html, read)) pieces.push(await asText(piece));
  }
  return join(pieces);
}

function joinHtml(tree: MimeTree, read: ReadParts): PlainText {
  return join(
    tree.sections.flatMap((section) =>
      section.html.length > 0
        ? piecesOf(section.html, read)
        : plainPieces(section, { tree, read }).map(asHtml),
    ),
  );
}

/** Beside HTML, blank text stands for nothing: senders of HTML leave it so. */
function plainPieces(
  { text }: BodySection,
  { tree, read }: { tree: MimeTree; read: ReadParts },
): PlainText[] {
  const pieces = piecesOf(text, read);
  return tree.html.length === 0 ? pieces : pieces.filter(({ value }) => value.trim() !== '');
}

function piecesOf(parts: readonly LeafPart[], read: ReadParts): PlainText[] {
  return parts.map((part) => read.get(part)).filter((piece) => piece !== undefined);
}

async function asText(html: PlainText): Promise<PlainText> {
  const text = await textOfHtml(html.value);
  return { value: text.value, truncated: html.truncated || text.truncated };
}

function asHtml({ value, truncated }: PlainText): PlainText {
  const escaped = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return { value: `<pre>${escaped}</pre>`, truncated };
}

function join(pieces: readonly PlainText[]): PlainText {
  const { value, truncated } = cutText(pieces.map((piece) => piece.value).join('\n'), BODY_BYTES_MAX);
  return { value, truncated: truncated || pieces.some((piece) => piece.truncated) };
}

/** Transfer encoding, charset and format=flowed are undone here, in a time that grows with the length alone. */
async function readParts(
  client: ImapFlow,
  uid: number,
  { parts, tree }: { parts: readonly LeafPart[]; tree: MimeTree },
): Promise<ReadParts> {
  const read = new Map<LeafPart, PlainText>();
  let bytesLeft = BODY_BYTES_MAX;
  for (const part of parts) {
    if (bytesLeft <= 0) {
      read.set(part, { value: '', truncated: true });
      continue;
    }
    const { bytes, isLast } = await readWindow(
      { client, uid, key: keyOf(part, tree), part },
      {
        offset: 0,
        bytesMax: bytesLeft,
        chunkBytes: BODY_CHUNK_BYTES,
        encodedBytesMax: BODY_ENCODED_BYTES_MAX,
      },
    );
    const text = cutText(decodeText(bytes, part), bytesLeft);
    bytesLeft -= Buffer.byteLength(text.value);
    read.set(part, { value: text.value, truncated: !isLast || text.truncated });
  }
  return read;
}
