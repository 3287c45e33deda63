import type { FetchMessageObject, ImapFlow } from 'imapflow';
import { ConnectorError, type ToolContext } from '../connector.ts';
import type { EmailCredential } from './credential.ts';
import { textOfHtml } from './html-text.ts';
import type { ImapPool } from './imap-pool.ts';
import { noSuchMessage, openFolder } from './mailbox.ts';
import { type Attachment, decodedBytes, type Message, readHead } from './message.ts';
import { type LeafPart, type MimeTree, readMimeTree } from './mime-tree.ts';
import { createTransferDecoder, isIdentityEncoding } from './transfer-decoder.ts';

const BODY_BYTES_MAX = 256 * 1024;
const BODY_CHUNK_BYTES = 128 * 1024;
const ATTACHMENT_CHUNK_BYTES = 512 * 1024;
/** Beyond this no attachment is followed: mail servers take messages of 25 to 150 MB. */
const ATTACHMENT_ENCODED_BYTES_MAX = 200 * 1024 * 1024;
/** How many attachments of one message are listed. */
const ATTACHMENTS_MAX = 100;
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
    const html = await readBody(client, args.uid, tree.html);
    const plain = await readBody(client, args.uid, format === 'html' ? [] : tree.text);
    const text = plain ?? (format === 'html' ? null : await asText(html));
    const shownHtml = format === 'text' ? null : html;
    return {
      ...readHead(fetched, args.folder),
      text: text?.value ?? null,
      html: shownHtml?.value ?? null,
      attachments: await listAttachments(client, args.uid, tree),
      truncated: text?.truncated === true || shownHtml?.truncated === true,
    };
  });
}

async function asText(html: BodyText | null): Promise<BodyText | null> {
  return html && { value: await textOfHtml(html.value), truncated: html.truncated };
}

async function fetchStructure(
  client: ImapFlow,
  { folder, uid }: { folder: string; uid: number },
): Promise<{ fetched: FetchMessageObject; tree: MimeTree }> {
  const query = { uid: true, flags: true, envelope: true, bodyStructure: true, internalDate: true };
  const fetched = await client.fetchOne(String(uid), query, { uid: true });
  if (!fetched || fetched.bodyStructure === undefined) throw noSuchMessage(folder, uid);
  return { fetched, tree: readMimeTree(fetched.bodyStructure) };
}

interface BodyText {
  value: string;
  truncated: boolean;
}

async function readBody(client: ImapFlow, uid: number, parts: readonly LeafPart[]): Promise<BodyText | null> {
  if (parts.length === 0) return null;
  const texts: string[] = [];
  let bytesLeft = BODY_BYTES_MAX;
  let truncated = false;
  for (const part of parts) {
    if (bytesLeft <= 0) {
      truncated = true;
      break;
    }
    const bytes = await downloadText(client, uid, { partId: part.partId, bytesMax: bytesLeft + 1 });
    truncated ||= bytes.length > bytesLeft;
    // In streaming mode a character that the cut tore apart is left out instead of being replaced.
    const text = new TextDecoder('utf-8').decode(bytes.subarray(0, bytesLeft), { stream: true });
    bytesLeft -= bytes.length;
    texts.push(text.replaceAll('\r\n', '\n').replace(/\n$/, ''));
  }
  return { value: texts.join('\n'), truncated };
}

/** imapflow undoes the transfer encoding, the charset and format=flowed, and stops at the limit. */
async function downloadText(
  client: ImapFlow,
  uid: number,
  { partId, bytesMax }: { partId: string; bytesMax: number },
): Promise<Buffer> {
  const download = await client.download(String(uid), partId, {
    uid: true,
    maxBytes: bytesMax,
    chunkSize: BODY_CHUNK_BYTES,
  });
  if (!('content' in download) || download.content === undefined) return Buffer.alloc(0);
  const chunks: Buffer[] = [];
  for await (const chunk of download.content) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function listAttachments(client: ImapFlow, uid: number, tree: MimeTree): Promise<Attachment[]> {
  const parts = tree.attachments.slice(0, ATTACHMENTS_MAX);
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

function keyOf({ partId }: LeafPart, { isSinglePart }: MimeTree): string {
  return isSinglePart ? 'text' : partId;
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
    const { bytes, isLast } = await readWindow(source, { offset, bytesMax }, context);
    const estimate = decodedBytes(part, '');
    return {
      part_id: part.partId,
      filename: part.filename,
      content_type: part.contentType,
      size: isLast ? offset + bytes.length : Math.max(estimate, offset + bytes.length),
      offset,
      content_base64: bytes.toString('base64'),
      next_offset: isLast ? null : offset + bytes.length,
    };
  });
}

interface PartSource {
  client: ImapFlow;
  uid: number;
  key: string;
  part: LeafPart;
}

/** A window of the decoded bytes. Encoded parts are read from their start, as their lines need not be equally long. */
async function readWindow(
  source: PartSource,
  { offset, bytesMax }: { offset: number; bytesMax: number },
  context: EmailContext,
): Promise<{ bytes: Buffer; isLast: boolean }> {
  const decoder = createTransferDecoder(source.part.encoding);
  const window: Buffer[] = [];
  const start = isIdentityEncoding(source.part.encoding) ? offset : 0;
  let position = start;
  let missing = bytesMax + 1;
  const take = (decoded: Buffer) => {
    const from = Math.max(0, offset - position);
    position += decoded.length;
    const piece = decoded.subarray(from, from + missing);
    missing -= piece.length;
    if (piece.length > 0) window.push(piece);
  };
  for await (const chunk of encodedChunks(source, start)) {
    take(decoder.push(chunk));
    context.progress(Math.min(position, offset + bytesMax), offset + bytesMax, 'attachment');
    if (missing <= 0) break;
  }
  if (missing > 0) take(decoder.end());
  const bytes = Buffer.concat(window);
  return { bytes: bytes.subarray(0, bytesMax), isLast: bytes.length <= bytesMax };
}

async function* encodedChunks({ client, uid, key }: PartSource, start: number): AsyncGenerator<Buffer> {
  for (let position = start; position < ATTACHMENT_ENCODED_BYTES_MAX; position += ATTACHMENT_CHUNK_BYTES) {
    const bodyParts = [{ key, start: position, maxLength: ATTACHMENT_CHUNK_BYTES }];
    const fetched = await client.fetchOne(String(uid), { uid: true, bodyParts }, { uid: true });
    const chunk = fetched ? fetched.bodyParts?.get(key) : undefined;
    if (chunk === undefined || chunk.length === 0) return;
    // A server that ignores the range sends the whole part, which is complete by itself.
    yield chunk.length > ATTACHMENT_CHUNK_BYTES ? chunk.subarray(position) : chunk;
    if (chunk.length !== ATTACHMENT_CHUNK_BYTES) return;
  }
}
