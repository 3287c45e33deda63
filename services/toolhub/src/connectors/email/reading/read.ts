import type { FetchMessageObject, ImapFlow } from 'imapflow';
import { ConnectorError, type ToolContext } from '../../connector.ts';
import type { EmailCredential } from '../credential.ts';
import { tooLarge } from '../imap/guard.ts';
import { noSuchMessage, openFolder, wasSkipped } from '../imap/mailbox.ts';
import type { ImapPool } from '../imap/pool.ts';
import { mendHeaders } from '../mime/eight-bit-headers.ts';
import { type PlainText, textOfHtml } from '../mime/html-text.ts';
import { type Attachment, decodedBytes, type Message, readHead } from '../mime/message.ts';
import { type LeafPart, type MimeTree, readMimeTree } from '../mime/mime-tree.ts';
import { keyOf, readWindow } from '../mime/part-reader.ts';
import { cutText, decodeText } from '../mime/text-part.ts';

const BODY_BYTES_MAX = 256 * 1024;
/** Base64 takes a third more and quoted-printable up to three times as much; beyond that it is white space. */
const BODY_ENCODED_BYTES_MAX = 4 * BODY_BYTES_MAX;
const BODY_CHUNK_BYTES = 128 * 1024;
const ATTACHMENT_CHUNK_BYTES = 512 * 1024;
/** Beyond this no attachment is followed: mail servers take messages of 25 to 150 MB. */
const ATTACHMENT_ENCODED_BYTES_MAX = 200 * 1024 * 1024;
/** How many attachments of one message are listed. */
export const ATTACHMENTS_LISTED_MAX = 100;
const ENDING_BYTES = 8;

export const ATTACHMENT_PAGE_BYTES_MAX = 4 * 1024 * 1024;

type EmailContext = ToolContext<EmailCredential>;

export type BodyFormat = 'full' | 'text' | 'html';

export function getMessage(
  pool: ImapPool,
  args: { folder: string; uid: number; format?: BodyFormat },
  context: EmailContext,
): Promise<Message> {
  const format = args.format ?? 'full';
  return pool.use(context, async (client) => {
    await openFolder(client, args.folder, { readOnly: true });
    const { fetched, tree } = await fetchStructure(client, args);
    const html = await readBody(client, args.uid, { parts: tree.html, tree });
    const plain = await readBody(client, args.uid, { parts: format === 'html' ? [] : tree.text, tree });
    const text = plain ?? (format === 'html' ? null : await asText(html));
    const shownHtml = format === 'text' ? null : html;
    return {
      ...readHead(fetched, args.folder),
      text: text?.value ?? null,
      html: shownHtml?.value ?? null,
      attachments: await listAttachments(client, args.uid, tree),
      truncated: text?.truncated === true || shownHtml?.truncated === true || lacksParts(tree),
    };
  });
}

/** Whether there are attachments, or parts that might be one, that the list does not have. */
function lacksParts({ attachments, isCut }: MimeTree): boolean {
  return isCut || attachments.length > ATTACHMENTS_LISTED_MAX;
}

async function asText(html: PlainText | null): Promise<PlainText | null> {
  if (html === null) return null;
  const text = await textOfHtml(html.value);
  return { value: text.value, truncated: html.truncated || text.truncated };
}

interface Described {
  fetched: FetchMessageObject;
  tree: MimeTree;
}

async function fetchStructure(
  client: ImapFlow,
  { folder, uid }: { folder: string; uid: number },
): Promise<Described> {
  const query = { uid: true, flags: true, bodyStructure: true, internalDate: true };
  // A message to thousands of people has an envelope beyond all limits; its body can be read without it.
  for (const envelope of [true, false]) {
    const fetched = await client.fetchOne(String(uid), { ...query, envelope }, { uid: true });
    if (fetched && fetched.bodyStructure !== undefined) {
      await mendHeaders(client, [fetched]);
      return { fetched, tree: readMimeTree(fetched.bodyStructure) };
    }
    if (!wasSkipped(client, 'FETCH')) throw noSuchMessage(folder, uid);
  }
  throw tooLarge('a message of too many parts');
}

/** Transfer encoding, charset and format=flowed are undone here, in a time that grows with the length alone. */
async function readBody(
  client: ImapFlow,
  uid: number,
  { parts, tree }: { parts: readonly LeafPart[]; tree: MimeTree },
): Promise<PlainText | null> {
  if (parts.length === 0) return null;
  const texts: string[] = [];
  let bytesLeft = BODY_BYTES_MAX;
  let truncated = false;
  for (const part of parts) {
    if (bytesLeft <= 0) {
      truncated = true;
      break;
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
    truncated ||= !isLast || text.truncated;
    bytesLeft -= Buffer.byteLength(text.value);
    texts.push(text.value);
  }
  return { value: texts.join('\n'), truncated };
}

async function listAttachments(client: ImapFlow, uid: number, tree: MimeTree): Promise<Attachment[]> {
  const parts = tree.attachments.slice(0, ATTACHMENTS_LISTED_MAX);
  const endings = await fetchEndings(
    client,
    uid,
    parts.filter(({ encoding }) => encoding === 'base64').map((part) => ({ key: keyOf(part, tree), part })),
  );
  return parts.map((part) => ({
    part_id: part.partId,
    filename: part.filename,
    content_type: part.contentType,
    size: decodedBytes(part, endings.get(keyOf(part, tree)) ?? ''),
  }));
}

async function fetchEndings(
  client: ImapFlow,
  uid: number,
  parts: readonly { key: string; part: LeafPart }[],
): Promise<Map<string, string>> {
  const bodyParts = parts
    .filter(({ part }) => part.encodedBytes > ENDING_BYTES)
    .map(({ key, part }) => ({ key, start: part.encodedBytes - ENDING_BYTES, maxLength: ENDING_BYTES }));
  if (bodyParts.length === 0) return new Map();
  const fetched = await client.fetchOne(String(uid), { uid: true, bodyParts }, { uid: true });
  const found = fetched ? (fetched.bodyParts ?? new Map<string, Buffer>()) : new Map<string, Buffer>();
  return new Map([...found].map(([key, bytes]) => [key, bytes.subarray(-ENDING_BYTES).toString('latin1')]));
}

export interface AttachmentPage {
  part_id: string;
  filename: string | null;
  content_type: string;
  size: number;
  offset: number;
  content_base64: string;
  next_offset: number | null;
}

export function getAttachment(
  pool: ImapPool,
  args: { folder: string; uid: number; part_id: string; offset?: number; max_bytes?: number },
  context: EmailContext,
): Promise<AttachmentPage> {
  const offset = args.offset ?? 0;
  const bytesMax = Math.min(args.max_bytes ?? ATTACHMENT_PAGE_BYTES_MAX, ATTACHMENT_PAGE_BYTES_MAX);
  return pool.use(context, async (client) => {
    await openFolder(client, args.folder, { readOnly: true });
    const { tree } = await fetchStructure(client, args);
    const part = [...tree.attachments, ...tree.text, ...tree.html].find(
      ({ partId }) => partId === args.part_id,
    );
    if (part === undefined) {
      throw new ConnectorError('invalid_arguments', `message ${args.uid} has no part ${args.part_id}`);
    }
    const source = { client, uid: args.uid, key: keyOf(part, tree), part };
    const { bytes, isLast, end } = await readWindow(source, {
      offset,
      bytesMax,
      chunkBytes: ATTACHMENT_CHUNK_BYTES,
      encodedBytesMax: ATTACHMENT_ENCODED_BYTES_MAX,
      onProgress: (position) => context.progress(position, offset + bytesMax, 'attachment'),
    });
    const estimate = decodedBytes(part, '');
    return {
      part_id: part.partId,
      filename: part.filename,
      content_type: part.contentType,
      size: isLast ? end : Math.max(estimate, offset + bytes.length),
      offset,
      content_base64: bytes.toString('base64'),
      next_offset: isLast ? null : offset + bytes.length,
    };
  });
}
