import { isUtf8 } from 'node:buffer';
import type { JsonLimits } from './json-shape.ts';
import { nextTurn } from './turns.ts';

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LOWER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** `\n`, and `\u0041` */
const ESCAPE_BYTES = 2;
const UNICODE_ESCAPE_BYTES = 6;
/** Behind the first byte of a character. */
const CONTINUED_BYTES_MAX = 3;

/** What is read in one turn of the event loop: well below a millisecond of plain text, a few of the dearest kind. */
const SLICE_BYTES = 64 * 1024;
/** A value takes time for itself, however short it is: as much as so many bytes. */
const VALUE_BYTES = 64;

export type JsonFault = 'encoding' | 'syntax' | 'repeated_key' | 'values' | 'depth';

/** The text is not the JSON that is taken. */
export class JsonRefused extends Error {
  override readonly name = 'JsonRefused';
  readonly fault: JsonFault;
  /** The key that is there twice. */
  readonly key: string | undefined;

  constructor(fault: JsonFault, key?: string) {
    super(fault);
    this.fault = fault;
    this.key = key;
  }
}

export interface SlicedJsonOptions {
  /** As JSON.parse of the decoded text: bytes that are no UTF-8 are replaced, and of a repeated key the last value counts. */
  isLenient?: boolean;
}

export interface SlicedJson {
  value: unknown;
  /** Whether a string holds a `\u` or a key is `__proto__`. */
  suspicious: boolean;
}

/**
 * The same value as JSON.parse gives, for texts so large that JSON.parse and what must be known before it would hold up
 * the process: 16 MiB of escapes take 200 ms. Here everything else gets its turn between two slices, at the price of
 * about twice the time. Values and depth are counted on the way, and nothing is read beyond the first excess. Strings and
 * numbers are given to JSON.parse piece by piece, so that what they mean is decided in one place.
 *
 * Rejected: a worker thread. Its answer is copied back in one go, it stands still for everybody behind one customer's
 * bodies, and it costs 10 MB and a start.
 */
export async function parseInSlices(
  body: Buffer,
  limits: JsonLimits,
  { isLenient = false }: SlicedJsonOptions = {},
): Promise<SlicedJson> {
  if (!isLenient && !isUtf8(body)) throw new JsonRefused('encoding');
  const reader = new SlicedReader(body, limits, isLenient);
  const slices = reader.document();
  for (let slice = slices.next(); ; slice = slices.next()) {
    if (slice.done) return { value: slice.value, suspicious: reader.suspicious };
    await nextTurn();
  }
}

type Slices<T> = Generator<void, T>;

class SlicedReader {
  suspicious = false;
  readonly #body: Buffer;
  readonly #limits: JsonLimits;
  readonly #isLenient: boolean;
  #position = 0;
  #sliceEnd = SLICE_BYTES;
  #values = 1;
  #depth = 0;

  constructor(body: Buffer, limits: JsonLimits, isLenient: boolean) {
    this.#body = body;
    this.#limits = limits;
    this.#isLenient = isLenient;
  }

  *document(): Slices<unknown> {
    const value = yield* this.#value();
    if ((yield* this.#next()) !== undefined) throw new JsonRefused('syntax');
    return value;
  }

  *#value(): Slices<unknown> {
    switch (yield* this.#next()) {
      case QUOTE:
        return yield* this.#text();
      case OPEN_BRACE:
        return yield* this.#object();
      case OPEN_BRACKET:
        return yield* this.#array();
      default:
        return yield* this.#scalar();
    }
  }

  /** The next byte that is no white space; undefined at the end. */
  *#next(): Slices<number | undefined> {
    const body = this.#body;
    while (true) {
      const limit = Math.min(this.#sliceEnd, body.length);
      while (this.#position < limit && isSpace(body[this.#position] as number)) this.#position += 1;
      if (this.#position < this.#sliceEnd) return body[this.#position];
      yield* this.#pause();
    }
  }

  *#pause(): Slices<void> {
    if (this.#position < this.#sliceEnd) return;
    this.#sliceEnd = this.#position + SLICE_BYTES;
    yield;
  }

  *#object(): Slices<Record<string, unknown>> {
    const object: Record<string, unknown> = {};
    this.#open();
    if ((yield* this.#next()) === CLOSE_BRACE) return this.#close(object);
    while (true) {
      if ((yield* this.#next()) !== QUOTE) throw new JsonRefused('syntax');
      const key = yield* this.#text();
      if ((yield* this.#next()) !== COLON) throw new JsonRefused('syntax');
      this.#position += 1;
      if (!this.#isLenient && Object.hasOwn(object, key)) throw new JsonRefused('repeated_key', key);
      this.#set(object, key, yield* this.#value());
      if (yield* this.#isLast(CLOSE_BRACE)) return this.#close(object);
    }
  }

  *#array(): Slices<unknown[]> {
    const array: unknown[] = [];
    this.#open();
    if ((yield* this.#next()) === CLOSE_BRACKET) return this.#close(array);
    while (true) {
      array.push(yield* this.#value());
      if (yield* this.#isLast(CLOSE_BRACKET)) return this.#close(array);
    }
  }

  /** After a value: whether the list ends here, or else goes on. */
  *#isLast(close: number): Slices<boolean> {
    const byte = yield* this.#next();
    if (byte === close) return true;
    if (byte !== COMMA) throw new JsonRefused('syntax');
    this.#position += 1;
    this.#count();
    return false;
  }

  #set(object: Record<string, unknown>, key: string, value: unknown): void {
    if (key === '__proto__') {
      this.suspicious = true;
      Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
    } else object[key] = value;
  }

  #open(): void {
    this.#position += 1;
    this.#depth += 1;
    if (this.#depth > this.#limits.depthMax) throw new JsonRefused('depth');
    this.#count();
  }

  #close<T>(whole: T): T {
    this.#position += 1;
    this.#depth -= 1;
    return whole;
  }

  /** As they are counted in a text that is read in one go. */
  #count(): void {
    this.#values += 1;
    this.#sliceEnd -= VALUE_BYTES;
    if (this.#values > this.#limits.valuesMax) throw new JsonRefused('values');
  }

  *#text(): Slices<string> {
    const body = this.#body;
    const pieces: string[] = [];
    this.#position += 1;
    while (true) {
      const end = endOfPiece(body, this.#position, Math.min(this.#sliceEnd, body.length));
      if (end >= body.length) throw new JsonRefused('syntax');
      const raw = body.toString('utf8', this.#position, end);
      if (raw.includes('\\u')) this.suspicious = true;
      pieces.push(parsePart(`"${raw}"`) as string);
      this.#position = end;
      if (body[end] === QUOTE) break;
      yield* this.#pause();
    }
    this.#position += 1;
    return pieces.length === 1 ? (pieces[0] as string) : pieces.join('');
  }

  /** A number or a word. */
  *#scalar(): Slices<unknown> {
    const body = this.#body;
    const start = this.#position;
    while (true) {
      const limit = Math.min(this.#sliceEnd, body.length);
      while (this.#position < limit && !endsScalar(body[this.#position] as number)) this.#position += 1;
      if (this.#position < this.#sliceEnd) break;
      yield* this.#pause();
    }
    return parsePart(body.toString('latin1', start, this.#position));
  }
}

function parsePart(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new JsonRefused('syntax');
  }
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function endsScalar(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_BRACKET || byte === CLOSE_BRACE || isSpace(byte);
}

/**
 * Where the string ends, or a place at or after the limit that tears neither an escape nor a character. Broken escapes may
 * be misread: the parser refuses the piece that has one.
 */
function endOfPiece(body: Buffer, from: number, limit: number): number {
  let position = from;
  while (position < limit) {
    const byte = body[position];
    if (byte === QUOTE) return position;
    if (byte !== BACKSLASH) position += 1;
    else position += body[position + 1] === LOWER_U ? UNICODE_ESCAPE_BYTES : ESCAPE_BYTES;
  }
  // Bytes that go on a character; where there are more of them than one has, they are no text, and replaced one by one.
  const farthest = position + CONTINUED_BYTES_MAX;
  while (position < farthest && ((body[position] ?? 0) & 0xc0) === 0x80) position += 1;
  return position;
}
