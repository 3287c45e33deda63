import type { ImapFlow } from 'imapflow';
import { fetchMessage } from '../imap/answers.ts';
import type { LeafPart, MimeTree } from './mime-tree.ts';
import { createTransferDecoder, isIdentityEncoding } from './transfer-decoder.ts';

/** A part of a message that is fetched piece by piece, so that one of any size needs little memory. */
export interface PartSource {
  client: ImapFlow;
  uid: number;
  key: string;
  part: LeafPart;
}

export interface WindowInput {
  offset: number;
  bytesMax: number;
  chunkBytes: number;
  /** How much is read of the encoded part, which may be all white space. */
  encodedBytesMax: number;
  onProgress?: (position: number) => void;
}

/** A message of one part answers to `TEXT` on every server, to its part number only on most. */
export function keyOf({ partId }: LeafPart, { isSinglePart }: MimeTree): string {
  return isSinglePart ? 'text' : partId;
}

/** A window of the decoded bytes, and where the part ends if the window reaches that. Encoded parts are read from their start, as their lines need not be equally long. */
export async function readWindow(
  source: PartSource,
  input: WindowInput,
): Promise<{ bytes: Buffer; isLast: boolean; end: number }> {
  const { offset, bytesMax } = input;
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
  for await (const chunk of encodedChunks(source, start, input)) {
    take(decoder.push(chunk));
    input.onProgress?.(Math.min(position, offset + bytesMax));
    if (missing <= 0) break;
  }
  if (missing > 0) take(decoder.end());
  const bytes = Buffer.concat(window);
  const { encoding, encodedBytes } = source.part;
  // Behind its end nothing was read of a part that is not encoded, whose size the server knows.
  const end =
    bytes.length === 0 && isIdentityEncoding(encoding) ? Math.min(position, encodedBytes) : position;
  return { bytes: bytes.subarray(0, bytesMax), isLast: bytes.length <= bytesMax, end };
}

async function* encodedChunks(
  { client, uid, key }: PartSource,
  start: number,
  { chunkBytes, encodedBytesMax }: WindowInput,
): AsyncGenerator<Buffer> {
  for (let position = start; position < encodedBytesMax; position += chunkBytes) {
    const bodyParts = [{ key, start: position, maxLength: chunkBytes }];
    const fetched = await fetchMessage(client, uid, { uid: true, bodyParts });
    const chunk = fetched?.bodyParts?.get(key);
    if (chunk === undefined || chunk.length === 0) return;
    // A server that ignores the range sends the whole part, which is complete by itself.
    yield chunk.length > chunkBytes ? chunk.subarray(position) : chunk;
    if (chunk.length !== chunkBytes) return;
  }
}
