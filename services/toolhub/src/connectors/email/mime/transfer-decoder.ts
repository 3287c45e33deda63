/** Undoes a Content-Transfer-Encoding piece by piece, so that a part of any size needs little memory. */
export interface TransferDecoder {
  push(chunk: Buffer): Buffer;
  end(): Buffer;
}

export function createTransferDecoder(encoding: string): TransferDecoder {
  switch (encoding) {
    case 'base64':
      return base64Decoder();
    case 'quoted-printable':
      return quotedPrintableDecoder();
    default:
      return { push: (chunk) => chunk, end: () => Buffer.alloc(0) };
  }
}

export function isIdentityEncoding(encoding: string): boolean {
  return encoding !== 'base64' && encoding !== 'quoted-printable';
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const EQUALS = 0x3d;
/** White space whose meaning the end of its line decides is kept until then, but no more of it than this. */
const KEPT_BYTES_MAX = 64 * 1024;

/** The value of a hexadecimal digit by its byte; -1 for all others. */
const HEX = Int8Array.from({ length: 256 }, (_, byte) => {
  const value = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(value) ? -1 : value;
});

/** The value of a character of base64 by its byte; -1 for all others. */
const BASE64 = new Int8Array(256).fill(-1);
for (const [value, byte] of Buffer.from(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
).entries()) {
  BASE64[byte] = value;
}

/** Padding ends a group of characters wherever it stands: some programs encode in pieces and put them together. */
function base64Decoder(): TransferDecoder {
  let group = 0;
  let bits = 0;
  return {
    push(chunk) {
      // Bits left over from before may complete one byte more.
      const decoded = Buffer.allocUnsafe(Math.floor((chunk.length * 6) / 8) + 1);
      let written = 0;
      for (let position = 0; position < chunk.length; position += 1) {
        const byte = chunk[position] as number;
        const value = BASE64[byte] as number;
        if (value < 0) {
          if (byte === EQUALS) bits = 0;
          continue;
        }
        group = ((group << 6) | value) & 0xffff;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        decoded[written++] = (group >> bits) & 0xff;
      }
      return decoded.subarray(0, written);
    },
    end: () => Buffer.alloc(0),
  };
}

/**
 * Byte by byte, so that its time grows with the length alone: strings and patterns took 200 ms for half a megabyte of
 * line breaks.
 */
function quotedPrintableDecoder(): TransferDecoder {
  let rest: Buffer = Buffer.alloc(0);
  return {
    push(chunk) {
      const read = readQuotedPrintable(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), false);
      // Nothing but white space for so long is no line that anyone wrote, so it is let through as it is.
      const isTooLong = read.rest.length > KEPT_BYTES_MAX;
      rest = isTooLong ? Buffer.alloc(0) : Buffer.from(read.rest);
      return isTooLong ? Buffer.concat([read.decoded, read.rest]) : read.decoded;
    },
    end: () => readQuotedPrintable(rest, true).decoded,
  };
}

/** RFC 2045 6.7. What cannot be decided without the bytes that come next is left over as `rest`. */
function readQuotedPrintable(input: Buffer, isEnd: boolean): { decoded: Buffer; rest: Buffer } {
  const decoded = Buffer.allocUnsafe(input.length);
  let written = 0;
  let position = 0;
  while (position < input.length) {
    const byte = input[position] as number;
    if (byte !== EQUALS && byte !== SPACE && byte !== TAB) {
      decoded[written++] = byte;
      position += 1;
      continue;
    }
    const isEscape = byte === EQUALS;
    const after = pastSpace(input, position + 1);
    const lineBreak = lineBreakAt(input, after, isEnd);
    if (lineBreak === 'undecided') break;
    if (lineBreak !== null) {
      // White space at the end of a line was added on the way; behind a "=" the line goes on after its end.
      position = isEscape ? after + lineBreak : after;
      continue;
    }
    if (!isEscape) {
      written += input.copy(decoded, written, position, after);
      position = after;
      continue;
    }
    const high = HEX[input[position + 1] ?? 0] as number;
    if (high >= 0 && position + 2 >= input.length && !isEnd) break;
    const low = HEX[input[position + 2] ?? 0] as number;
    const isByte = high >= 0 && low >= 0;
    decoded[written++] = isByte ? high * 16 + low : byte;
    position += isByte ? 3 : 1;
  }
  return { decoded: decoded.subarray(0, written), rest: input.subarray(position) };
}

function pastSpace(input: Buffer, from: number): number {
  let position = from;
  while (input[position] === SPACE || input[position] === TAB) position += 1;
  return position;
}

/** The length of the line break here, the end of everything among them; null where none is. */
function lineBreakAt(input: Buffer, position: number, isEnd: boolean): number | null | 'undecided' {
  if (position >= input.length) return isEnd ? 0 : 'undecided';
  if (input[position] === LF) return 1;
  if (input[position] !== CR) return null;
  if (position + 1 >= input.length && !isEnd) return 'undecided';
  return input[position + 1] === LF ? 2 : null;
}
