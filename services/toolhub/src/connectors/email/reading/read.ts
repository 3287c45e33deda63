import type { FetchMessageObject, ImapFlow } from 'imapflow';
import { ConnectorError, type ToolContext } from '../../connector.ts';
import type { EmailCredential } from '../credential.ts';
import { fetchMessage } from '../imap/answers.ts';
import { tooLarge } from '../imap/guard.ts';
import { noSuchMessage, openFolder, wasSkipped } from '../imap/mailbox.ts';
import type { ImapPool } from '../imap/pool.ts';
import { mendHeaders } from '../mime/eight-bit-headers.ts';
import { type Attachment, decodedBytes, type Message, readHead } from '../mime/message.ts';
import { type LeafPart, type MimeTree, readMimeTree } from '../mime/mime-tree.ts';
import { keyOf, readWindow } from '../mime/part-reader.ts';
import { type BodyFormat, readMailBody } from './body.ts';

const ATTACHMENT_CHUNK_BYTES = 512 * 1024;
/** Beyond this no attachment is followed: mail servers take messages of 25 to 150 MB. */
const ATTACHMENT_ENCODED_BYTES_MAX = 200 * 1024 * 1024;
/** How many attachments of one message are listed. */
export const ATTACHMENTS_LISTED_MAX = 100;
const ENDING_BYTES = 8;

/** A result is written three times over, in one go each: longer pages would hold up everybody else. */
export const ATTACHMENT_PAGE_BYTES_MAX = 1024 * 1024;

type EmailContext = ToolContext<EmailCredential>;

export function getMessage(
  pool: ImapPool,
  args: { folder: string; uid: number; format?: BodyFormat },
  context: EmailContext,
): Promise<Message> {
  return pool.use(context, async (client) => {
    await openFolder(client, args.folder, { readOnly: true });
    const { fetched, tree } = await fetchStructure(client, args);
    const { text, html } = await readMailBody(client, args.uid, { tree, format: args.format ?? 'full' });
    return {
      ...readHead(fetched, args.folder),
      text: text?.value ?? null,
      html: html?.value ?? null,
      attachments: await listAttachments(client, args.uid, tree),
      truncated: text?.truncated === true || html?.truncated === true || lacksParts(tree),
    };
  });
}

/** Whether there are attachments, or parts that might be one, that the list does not have. */
function lacksParts({ attachments, isCut }: MimeTree): boolean {
  return isCut || attachments.length > ATTACHMENTS_LISTED_MAX;
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
    const fetched = await fetchMessage(client, uid, { ...query, envelope });
    if (fetched?.bodyStructure !== undefined) {
      await mendHeaders(client, [fetched]);
      return { fetched, tree: readMimeTree(fetched.bodyStructure) };
    }
    if (!wasSkipped(client, 'FETCH')) throw noSuchMessage(folder, uid);
  }
  throw tooLarge('a message of too many parts');
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
  const fetched = await fetchMessage(client, uid, { uid: true, bodyParts });
  const found = fetched?.bodyParts ?? new Map<string, Buffer>();
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
