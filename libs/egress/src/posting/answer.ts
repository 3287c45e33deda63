/** What an answer to a POST may be, and how much of it is looked at. */
export const ANSWER_LIMITS = {
  headBytes: 16 * 1024,
  /** A longer body costs its connection; the status has been given by then, and counts. */
  bodyBytes: 16 * 1024,
  /** How much of the body of what is no success is kept. */
  keptBytes: 500,
} as const;

/** Lines of the chunked coding hold a length, and extensions that nobody uses. */
const CHUNK_LINE_MAX = 256;
/** Answers with a status below 200 come before the answer: one, or two. */
const INTERIMS_MAX = 8;
const HEAD_END = '\r\n\r\n';
const TAIL_LENGTH = HEAD_END.length - 1;
const LINE_FEED = 10;
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;
const CHUNK_LINE = /^([\dA-Fa-f]{1,8})[\t ]*(?:;.*)?$/;
/** What no line of a head may hold: with one of these, two readers could see two different answers. */
const FORBIDDEN = /[\0\r\n]/;
const SECONDS = /(?:^|[,\s])timeout=(\d{1,6})(?:$|[,\s])/i;

/** The other side sent what is no answer in HTTP/1.1. */
export class AnswerFault extends Error {
  override readonly name = 'AnswerFault';
}

type Framing =
  | { by: 'length'; left: number }
  | { by: 'chunks'; place: 'size' | 'data' | 'after' | 'trailers'; left: number; line: string }
  | { by: 'end' };

interface Head {
  readonly isKept: boolean;
  readonly status: number;
  readonly fields: ReadonlyMap<string, readonly string[]>;
}

/**
 * Reads one answer as it comes, in pieces of any size (RFC 9112). It knows what the sender of a message wants to know and nothing
 * else: the status, `Retry-After`, how a refusal begins, and whether the connection is as good as before. It is as strict as
 * a browser's parser where an answer could be understood in two ways.
 */
export class AnswerReader {
  status: number | null = null;
  retryAfter: string | null = null;
  readonly kept: Buffer[] = [];
  /** How long the other side keeps the connection for the next request; null where it does not, or does not say that it will end. */
  keepsOpenMs: number | null = null;
  #headParts: string[] = [];
  #headTail = '';
  #headBytes = 0;
  #interims = 0;
  #framing: Framing | null = null;
  #bodyBytes = 0;
  #keptBytes = 0;
  #isKept = false;

  /** Whether the answer is over: `whole` to its last byte, or `enough` because no more of it is read. */
  read(chunk: Buffer): 'more' | 'whole' | 'enough' {
    let rest = chunk;
    while (this.#framing === null) {
      const begins = this.#readHead(rest);
      if (begins === null) return 'more';
      rest = rest.subarray(begins);
    }
    return this.#readBody(rest, this.#framing);
  }

  /** Where in these bytes the head is over; null while it goes on. */
  #readHead(bytes: Buffer): number | null {
    const text = bytes.toString('latin1');
    // What was there before is not looked through again: its last letters may begin the end.
    const tail = this.#headTail;
    const end = (tail + text).indexOf(HEAD_END);
    const length = end === -1 ? text.length : end - tail.length;
    this.#headBytes += length;
    if (this.#headBytes > ANSWER_LIMITS.headBytes) throw new AnswerFault('the head is too long');
    this.#headParts.push(text);
    if (end === -1) {
      this.#headTail = (tail + text).slice(-TAIL_LENGTH);
      return null;
    }
    const head = readHead(this.#headParts.join('').slice(0, this.#headBytes));
    this.#headParts = [];
    this.#headTail = '';
    this.#headBytes = 0;
    this.#begin(head);
    return length + HEAD_END.length;
  }

  /** The other side closed the connection. Throws where that cut an answer short. */
  end(): void {
    if (this.#framing?.by === 'end') return;
    const when = this.#framing === null ? 'before the answer' : 'before the end of the answer';
    throw new AnswerFault(`the connection was closed ${when}`);
  }

  #begin(head: Head): void {
    const { status, fields } = head;
    if (status === 101) throw new AnswerFault('the protocol was switched, which nobody asked for');
    // Comes before the answer.
    if (status < 200) {
      this.#interims += 1;
      if (this.#interims > INTERIMS_MAX) throw new AnswerFault('the answer does not begin');
      return;
    }
    this.status = status;
    this.retryAfter = fields.get('retry-after')?.[0] ?? null;
    this.#framing = framingOf(head);
    this.#isKept = head.isKept && this.#framing.by !== 'end';
    this.keepsOpenMs = this.#isKept ? keepsOpenMs(fields.get('keep-alive')) : null;
  }

  #readBody(bytes: Buffer, framing: Framing): 'more' | 'whole' | 'enough' {
    this.#bodyBytes += bytes.length;
    const left = framing.by === 'chunks' ? this.#readChunks(bytes, framing) : this.#readPlain(bytes, framing);
    if (left !== null) {
      // What follows an answer was not asked for, and would be taken for the next one.
      if (left > 0) this.keepsOpenMs = null;
      return 'whole';
    }
    if (this.#bodyBytes <= ANSWER_LIMITS.bodyBytes) return 'more';
    this.keepsOpenMs = null;
    return 'enough';
  }

  /** How many bytes are left over behind the body, or null while it goes on. */
  #readPlain(bytes: Buffer, framing: Exclude<Framing, { by: 'chunks' }>): number | null {
    if (framing.by === 'end') {
      this.#keep(bytes);
      return null;
    }
    this.#keep(bytes.subarray(0, framing.left));
    framing.left -= bytes.length;
    return framing.left <= 0 ? -framing.left : null;
  }

  #readChunks(bytes: Buffer, framing: Extract<Framing, { by: 'chunks' }>): number | null {
    let at = 0;
    while (at < bytes.length) {
      if (framing.place === 'data') {
        const data = bytes.subarray(at, at + framing.left);
        this.#keep(data);
        at += data.length;
        framing.left -= data.length;
        if (framing.left === 0) framing.place = 'after';
        continue;
      }
      const end = bytes.indexOf(LINE_FEED, at);
      framing.line += bytes.toString('latin1', at, end === -1 ? bytes.length : end);
      if (framing.line.length > CHUNK_LINE_MAX) throw new AnswerFault('a line between chunks is too long');
      if (end === -1) return null;
      at = end + 1;
      if (takeLine(framing)) return bytes.length - at;
    }
    return null;
  }

  #keep(bytes: Buffer): void {
    const room = ANSWER_LIMITS.keptBytes - this.#keptBytes;
    if (room <= 0 || bytes.length === 0 || this.status === null || this.status < 300) return;
    // A copy: the bytes that are handed in are overwritten by those that come next.
    const piece = Buffer.from(bytes.subarray(0, room));
    this.kept.push(piece);
    this.#keptBytes += piece.length;
  }
}

/** Takes a line between two chunks; answers whether it was the last of all. */
function takeLine(framing: Extract<Framing, { by: 'chunks' }>): boolean {
  const { place, line } = framing;
  framing.line = '';
  if (!line.endsWith('\r') || FORBIDDEN.test(line.slice(0, -1)))
    throw new AnswerFault('a line ends in the middle');
  const text = line.slice(0, -1);
  if (place === 'trailers') return text === '';
  if (place === 'after') {
    if (text !== '') throw new AnswerFault('a chunk is longer than it says');
    framing.place = 'size';
    return false;
  }
  const size = CHUNK_LINE.exec(text)?.[1];
  if (size === undefined) throw new AnswerFault('a chunk has no length');
  framing.left = Number.parseInt(size, 16);
  framing.place = framing.left === 0 ? 'trailers' : 'data';
  return false;
}

function readHead(text: string): Head {
  const [first = '', ...lines] = text.split('\r\n');
  const match = STATUS_LINE.exec(first);
  if (match === null || FORBIDDEN.test(first)) throw new AnswerFault('the answer is not HTTP/1.1');
  const fields = new Map<string, string[]>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    if (!TOKEN.test(name) || FORBIDDEN.test(line)) throw new AnswerFault('a line of the head is no field');
    const value = line.slice(colon + 1).trim();
    const key = name.toLowerCase();
    const known = fields.get(key);
    if (known === undefined) fields.set(key, [value]);
    else known.push(value);
  }
  const options = (fields.get('connection') ?? []).join(',').toLowerCase().split(',');
  const isKept = match[1] === '1' && !options.some((option) => option.trim() === 'close');
  return { isKept, status: Number(match[2]), fields };
}

function framingOf({ status, fields }: Head): Framing {
  const codings = fields.get('transfer-encoding');
  const lengths = fields.get('content-length');
  if (status === 204 || status === 304) return { by: 'length', left: 0 };
  if (codings !== undefined) {
    if (lengths !== undefined) throw new AnswerFault('the answer has two lengths');
    const last = codings.join(',').split(',').at(-1)?.trim().toLowerCase();
    return last === 'chunked' ? { by: 'chunks', place: 'size', left: 0, line: '' } : { by: 'end' };
  }
  if (lengths === undefined) return { by: 'end' };
  const [length = ''] = lengths;
  if (lengths.length > 1 || !/^\d{1,15}$/.test(length))
    throw new AnswerFault('the length of the answer is no length');
  return { by: 'length', left: Number(length) };
}

/** Without a word of its end a connection is kept for as long as we like. */
function keepsOpenMs(fields: readonly string[] = []): number {
  const seconds = SECONDS.exec(fields.join(','))?.[1];
  return seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1_000;
}
