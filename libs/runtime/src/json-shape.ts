const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const UNDERSCORE = 0x5f;
const LOWER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** `\u0041` */
const UNICODE_ESCAPE_BYTES = 6;

export type JsonLimits = {
  /** Values of any kind, at any depth. Many small ones cost a parser far more time than their bytes suggest. */
  readonly valuesMax: number;
  readonly depthMax: number;
};

export type JsonShape = {
  /** How many names of members the text has. */
  readonly members: number;
  /** Whether a string begins with two underscores or holds a `\u`. */
  readonly suspicious: boolean;
};

export type JsonExcess = { readonly exceeded: 'values' | 'depth' };

/** Which bytes stop a search, looked up in a table because a comparison with each would cost more. */
function stopsAt(...bytes: number[]): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of bytes) table[byte] = 1;
  return table;
}

const STRUCTURE = stopsAt(QUOTE, COMMA, COLON, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE);
const STRING_EVENTS = stopsAt(QUOTE, BACKSLASH);

/** Strings longer than this are searched for their end by the platform, which is faster by far but costs a call. */
const SHORT_BYTES = 64;

/**
 * Counts what a text holds before anybody parses it, in one pass that ends at the first excess: the time it takes is
 * bounded by the bytes, and the time that parsing takes is bounded by the limits. The text need not be valid JSON; of
 * a valid one, there are never more values than are counted here.
 */
export function measureJson(body: Buffer, limits: JsonLimits): JsonShape | JsonExcess {
  const strings = new StringSkipper(body);
  let members = 0;
  let values = 1;
  let texts = 0;
  let depth = 0;
  const end = body.length;
  for (let i = nextStop(body, STRUCTURE, 0, end); i < end; i = nextStop(body, STRUCTURE, i + 1, end)) {
    const byte = body[i];
    if (byte === QUOTE) {
      i = strings.endOf(i);
      // A name and a value at most: more is no JSON, and need not be read to its end.
      texts++;
      if (texts > 2 * limits.valuesMax) return { exceeded: 'values' };
    } else if (byte === COLON) members++;
    else if (byte === COMMA) values++;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
      values++;
      if (depth > limits.depthMax) return { exceeded: 'depth' };
    } else depth--;
    if (values > limits.valuesMax) return { exceeded: 'values' };
  }
  return { members, suspicious: strings.suspicious };
}

/** A function of its own, small and called often: only such a loop is compiled for speed. */
function nextStop(body: Buffer, table: Uint8Array, from: number, limit: number): number {
  let i = from;
  while (i < limit && table[body[i] as number] === 0) i++;
  return i;
}

/** Stops at a `\u`. */
function pastPlainEscapes(body: Buffer, from: number): number {
  let i = from;
  while (body[i] === BACKSLASH && body[i + 1] !== LOWER_U) i += 2;
  return i;
}

/**
 * Finds the ends of the strings. The next quote and the next backslash are remembered until they are passed, so however
 * strings and escapes are arranged, every byte is searched once.
 */
class StringSkipper {
  suspicious = false;
  readonly #body: Buffer;
  #quote = -1;
  #backslash = -1;

  constructor(body: Buffer) {
    this.#body = body;
  }

  /** Where the string that begins at `start` ends; the end of the text where it has no end. */
  endOf(start: number): number {
    const body = this.#body;
    const end = body.length;
    if (body[start + 1] === UNDERSCORE && body[start + 2] === UNDERSCORE) this.suspicious = true;
    let i = start + 1;
    while (i < end) {
      const far = Math.min(i + SHORT_BYTES, end);
      i = nextStop(body, STRING_EVENTS, i, far);
      if (i === far) i = this.#jump(i);
      if (body[i] === QUOTE) return i;
      i = this.#pastEscapes(i);
    }
    return end;
  }

  /** Escapes like company. Broken ones may be misread: the parser stops there, before all that was miscounted. */
  #pastEscapes(from: number): number {
    const after = pastPlainEscapes(this.#body, from);
    if (this.#body[after] !== BACKSLASH) return after;
    this.suspicious = true;
    return after + UNICODE_ESCAPE_BYTES;
  }

  /** The next quote or backslash, however far. */
  #jump(from: number): number {
    const body = this.#body;
    if (this.#quote < from) this.#quote = indexOrEnd(body, QUOTE, from);
    if (this.#backslash < from) this.#backslash = indexOrEnd(body, BACKSLASH, from);
    return Math.min(this.#quote, this.#backslash);
  }
}

function indexOrEnd(body: Buffer, byte: number, from: number): number {
  const index = body.indexOf(byte, from);
  return index < 0 ? body.length : index;
}
