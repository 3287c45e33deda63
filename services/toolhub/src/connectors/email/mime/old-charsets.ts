// Charsets that old mail is written in and the WHATWG list, which TextDecoder knows, leaves out. Each is read byte by byte
// into one that it knows, so that the time grows with the length alone.

/** The text, or undefined where the charset is none of these. What is torn apart at the end is left out. */
export function decodeOldCharset(bytes: Uint8Array, charset: string): string | undefined {
  return DECODERS.get(charset)?.(bytes);
}

const DECODERS: ReadonlyMap<string, (bytes: Uint8Array) => string> = new Map([
  ['utf-7', fromUtf7],
  ['utf7', fromUtf7],
  ['unicode-1-1-utf-7', fromUtf7],
  ['utf-32', (bytes) => fromUtf32(bytes, bytes[0] === 0xff && bytes[1] === 0xfe)],
  ['utf-32be', (bytes) => fromUtf32(bytes, false)],
  ['utf-32le', (bytes) => fromUtf32(bytes, true)],
  ['hz-gb-2312', fromHz],
  ['hz', fromHz],
  ['iso-2022-kr', fromIso2022Kr],
]);

const PLUS = 0x2b;
const MINUS = 0x2d;
const NEWLINE = 0x0a;
const TILDE = 0x7e;
const UNIT_BITS = 16;
const SEXTETS = new Map(
  Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', (letter, value) => [
    letter.charCodeAt(0),
    value,
  ]),
);

/** RFC 2152: what is not ASCII stands between `+` and `-` as UTF-16 in base64. A plus that begins none is a plus. */
function fromUtf7(bytes: Uint8Array): string {
  const units = new Uint16Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] as number;
    if (byte !== PLUS) {
      units[length++] = byte;
      at += 1;
      continue;
    }
    const before = length;
    let end = at + 1;
    let bits = 0;
    let held = 0;
    for (let sextet = sextetAt(bytes, end); sextet !== undefined; sextet = sextetAt(bytes, end)) {
      held = ((held << 6) | sextet) & 0x3fffff;
      bits += 6;
      end += 1;
      if (bits < UNIT_BITS) continue;
      bits -= UNIT_BITS;
      units[length++] = (held >> bits) & 0xffff;
    }
    const isPlain = length === before;
    if (isPlain) for (const one of bytes.subarray(at, end)) units[length++] = one;
    at = bytes[end] === MINUS && (!isPlain || end === at + 1) ? end + 1 : end;
  }
  return Buffer.from(units.buffer, 0, length * 2)
    .toString('utf16le')
    .toWellFormed();
}

function sextetAt(bytes: Uint8Array, at: number): number | undefined {
  return SEXTETS.get(bytes[at] ?? 0);
}

const UTF32_BYTES = 4;
const BYTE_ORDER_MARK = /^\ufeff/;

function fromUtf32(bytes: Uint8Array, isLittleEndian: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const characters = Array.from({ length: Math.floor(bytes.length / UTF32_BYTES) }, (_, index) => {
    const point = view.getUint32(index * UTF32_BYTES, isLittleEndian);
    return point > 0x10ffff ? '\ufffd' : String.fromCodePoint(point);
  });
  return characters.join('').replace(BYTE_ORDER_MARK, '').toWellFormed();
}

/** RFC 1843: pairs of seven bits between `~{` and `~}`, or the end of the line; `~~` is a tilde, and `~` goes on in the next line. */
function fromHz(bytes: Uint8Array): string {
  const [open, close] = [0x7b, 0x7d];
  return decodePairs(bytes, 'gbk', (at, isPaired) => {
    if (bytes[at] !== TILDE) return undefined;
    const next = bytes[at + 1];
    if (next === (isPaired ? close : open)) return { skip: 2, isPaired: !isPaired };
    if (isPaired) return undefined;
    if (next === TILDE) return { skip: 2, isPaired, writes: TILDE };
    return next === NEWLINE ? { skip: 2, isPaired } : undefined;
  });
}

/** RFC 1557: pairs of seven bits between SO and SI, or the end of the line. */
function fromIso2022Kr(bytes: Uint8Array): string {
  const [shiftOut, shiftIn, announce] = [0x0e, 0x0f, 0x1b];
  return decodePairs(bytes, 'euc-kr', (at) => {
    const byte = bytes[at];
    if (byte === shiftOut || byte === shiftIn) return { skip: 1, isPaired: byte === shiftOut };
    // ESC $ ) C at the beginning names the characters that follow.
    return byte === announce ? { skip: 4, isPaired: false } : undefined;
  });
}

type Shift = { skip: number; isPaired: boolean; writes?: number } | undefined;

/** Gives the bytes of pairs their eighth bit, which makes them those of the charset that has both. */
function decodePairs(
  bytes: Uint8Array,
  charset: string,
  shiftAt: (at: number, isPaired: boolean) => Shift,
): string {
  const out = Buffer.alloc(bytes.length);
  let length = 0;
  let isPaired = false;
  for (let at = 0; at < bytes.length; ) {
    const shift = shiftAt(at, isPaired);
    if (shift !== undefined) {
      if (shift.writes !== undefined) out[length++] = shift.writes;
      isPaired = shift.isPaired;
      at += shift.skip;
      continue;
    }
    const byte = bytes[at] as number;
    if (byte === NEWLINE) isPaired = false;
    const isPair = isPaired && byte > 0x20 && (bytes[at + 1] ?? 0x7f) > 0x20;
    out[length++] = isPair ? byte | 0x80 : byte;
    if (isPair && at + 1 < bytes.length) out[length++] = (bytes[at + 1] as number) | 0x80;
    at += isPair ? 2 : 1;
  }
  return new TextDecoder(charset).decode(out.subarray(0, length), { stream: true });
}
