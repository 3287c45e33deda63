/**
 * What an IMAP server may send. Everything it sends passes here before a parser sees it, because a parser may take a
 * time that grows with the square of what it is given, and keeps what it has read.
 */
export interface ImapLimits {
  /** Bytes of one answer without its literals. */
  lineBytes: number;
  /** Bytes of one answer that is a status (`OK`, `NO`, …), a continuation, or the end of a command. */
  statusBytes: number;
  /** Bytes between two spaces, outside of quotes. */
  wordBytes: number;
  /** The same in answers that name a folder, whose path takes up to three bytes for each of its characters. */
  pathBytes: number;
  /** The same for sets of message numbers (`1:3,5`), which are longer where many messages are moved. */
  sequenceBytes: number;
  /** Words, strings and lists in one answer; the parser makes an object of each. */
  words: number;
  /** How deep lists may be nested. */
  nesting: number;
  literalBytes: number;
  literalsPerAnswer: number;
  /** What one command may be answered with, in all. */
  commandBytes: number;
  commandItems: number;
  /** The same for commands that list one folder, with its spellings. */
  singleItems: number;
  /** The same for commands that do not list folders: what they ask for is counted before. */
  otherItems: number;
}

const KIB = 1024;
export const IMAP_LIMITS: ImapLimits = {
  lineBytes: 64 * KIB,
  statusBytes: 16 * KIB,
  wordBytes: 512,
  pathBytes: 4 * KIB,
  sequenceBytes: 8 * KIB,
  words: 6_000,
  nesting: 20,
  literalBytes: 2 * KIB * KIB,
  literalsPerAnswer: 1_000,
  commandBytes: 32 * KIB * KIB,
  commandItems: 10_000,
  singleItems: 100,
  otherItems: 2_000,
};

export class ImapLimitExceeded extends Error {
  override readonly name = 'ImapLimitExceeded';
  readonly code = 'ANSWER_TOO_LARGE';
}

/** Answers about one message or one search: without one of them, those behind it still make sense. */
export type SkippableAnswer = 'FETCH' | 'SEARCH';

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const OPEN = 0x28;
const CLOSE = 0x29;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const CLOSE_BRACE = 0x7d;

/** Enough of an answer to tell what it is, and of a line to tell whether a literal follows. */
const HEAD_BYTES = 64;
const TAIL_BYTES = 64;
const STATUS = /^(?:\+|\0*\S+ (?:OK|NO|BAD|BYE|PREAUTH)\b)/i;
const STATUS_CODE = /^\0*\S+ (?:OK|NO|BAD|BYE|PREAUTH)\s+\[/i;
const SKIPPABLE = /^\* (?:\d+ )?(FETCH|SEARCH)\b/i;
const NAMES_FOLDER = /^\* (?:LIST|LSUB|XLIST|STATUS)\b/i;
/** The same rule as the library's: digits in braces at the very end of a line. */
const LITERAL_MARKER = /\{(\d+)\}\r?\n$/;
/** A marker that begins before what was kept of a line. */
const CUT_MARKER = /^\d+\}\r?\n$/;

const LISTING: ReadonlySet<string> = new Set(['LIST', 'LSUB', 'XLIST']);

/** One answer as it comes: lines, each but the last of which announces a literal. */
interface Answer {
  pieces: Buffer[];
  head: string;
  textBytes: number;
  literals: number;
  words: number;
  depth: number;
  /** Why it is left out, once that is clear. */
  skippedFor: string | null;
}

function newAnswer(): Answer {
  return { pieces: [], head: '', textBytes: 0, literals: 0, words: 0, depth: 0, skippedFor: null };
}

/** Cuts a stream of IMAP answers into whole ones and lets through only those that keep to the limits. */
export class ImapLimiter {
  readonly #limits: ImapLimits;
  #answer = newAnswer();
  /** The line that has not ended yet. */
  #line: Buffer[] = [];
  #lineBytes = 0;
  #literalLeft = 0;
  #commandBytes = 0;
  #commandItems = 0;
  #itemsMax: number;
  #skipped: { kind: SkippableAnswer; reason: string }[] = [];

  constructor(limits: ImapLimits = IMAP_LIMITS) {
    this.#limits = limits;
    this.#itemsMax = limits.otherItems;
  }

  /** Budgets are per command. Only we begin one: nothing that the server says gives it more. */
  beginCommand(name: string, { wantsAll = true }: { wantsAll?: boolean } = {}): void {
    const { commandItems, singleItems, otherItems } = this.#limits;
    const isListing = LISTING.has(name.toUpperCase());
    this.#itemsMax = isListing ? (wantsAll ? commandItems : singleItems) : otherItems;
    this.#commandBytes = 0;
    this.#commandItems = 0;
    this.#skipped = [];
  }

  /** What was left out of the answers to this command. */
  get skipped(): readonly { kind: SkippableAnswer; reason: string }[] {
    return this.#skipped;
  }

  /** Whether part of an answer waits for the rest. */
  get isAmidAnswer(): boolean {
    return this.#lineBytes > 0 || this.#literalLeft > 0 || this.#answer.textBytes > 0;
  }

  /** Whole answers, each as the bytes that came. Throws ImapLimitExceeded, after which nothing more is taken. */
  push(chunk: Buffer): Buffer[] {
    this.#commandBytes += chunk.length;
    if (this.#commandBytes > this.#limits.commandBytes) {
      throw new ImapLimitExceeded(`more than ${this.#limits.commandBytes} bytes for one command`);
    }
    const whole: Buffer[] = [];
    let position = 0;
    while (position < chunk.length) {
      if (this.#literalLeft > 0) {
        const end = Math.min(chunk.length, position + this.#literalLeft);
        this.#literalLeft -= end - position;
        this.#keep(chunk.subarray(position, end));
        position = end;
        continue;
      }
      const lineEnd = chunk.indexOf(LF, position) + 1;
      const end = lineEnd === 0 ? chunk.length : lineEnd;
      this.#takeText(chunk.subarray(position, end));
      position = end;
      if (lineEnd === 0) break;
      const answer = this.#endLine();
      if (answer !== null) whole.push(answer);
    }
    return whole;
  }

  #keep(bytes: Buffer): void {
    if (this.#answer.skippedFor === null && bytes.length > 0) this.#answer.pieces.push(bytes);
  }

  #takeText(bytes: Buffer): void {
    const answer = this.#answer;
    if (answer.head.length < HEAD_BYTES) {
      answer.head += bytes.toString('latin1', 0, HEAD_BYTES - answer.head.length);
    }
    answer.textBytes += bytes.length;
    this.#line.push(bytes);
    this.#lineBytes += bytes.length;
    if (answer.skippedFor === null) {
      const bytesMax = STATUS.test(answer.head) ? this.#limits.statusBytes : this.#limits.lineBytes;
      if (answer.textBytes > bytesMax) this.#refuse(`a line of more than ${bytesMax} bytes`);
    }
    if (answer.skippedFor !== null) this.#keepTail();
  }

  /** Of a line that is left out, only the end matters. */
  #keepTail(): void {
    const tail = Buffer.concat(this.#line).subarray(-TAIL_BYTES);
    this.#line = [Buffer.from(tail)];
    this.#lineBytes = tail.length;
  }

  #endLine(): Buffer | null {
    const line =
      this.#line.length === 1 ? (this.#line[0] as Buffer) : Buffer.concat(this.#line, this.#lineBytes);
    this.#line = [];
    this.#lineBytes = 0;
    const answer = this.#answer;
    if (answer.skippedFor === null) this.#inspect(line);
    this.#keep(line);
    const literalBytes = this.#literalBytesAfter(line);
    if (literalBytes !== null) {
      this.#literalLeft = literalBytes;
      return null;
    }
    return this.#endAnswer();
  }

  #endAnswer(): Buffer | null {
    const answer = this.#answer;
    this.#answer = newAnswer();
    this.#commandItems += 1;
    if (this.#commandItems > this.#itemsMax) {
      throw new ImapLimitExceeded(`more than ${this.#itemsMax} answers to one command`);
    }
    if (answer.skippedFor !== null) {
      const kind = SKIPPABLE.exec(answer.head)?.[1]?.toUpperCase() as SkippableAnswer;
      this.#skipped.push({ kind, reason: answer.skippedFor });
      return null;
    }
    return answer.pieces.length === 1 ? (answer.pieces[0] as Buffer) : Buffer.concat(answer.pieces);
  }

  /** Leaves the answer out where the others can do without it, else ends the connection. */
  #refuse(reason: string): void {
    if (!SKIPPABLE.test(this.#answer.head)) throw new ImapLimitExceeded(reason);
    this.#answer.skippedFor = reason;
    this.#answer.pieces = [];
  }

  #literalBytesAfter(line: Buffer): number | null {
    const end = line.length - (line.at(-2) === CR ? 3 : 2);
    if (line[end] !== CLOSE_BRACE) return null;
    const tail = line.toString('latin1', Math.max(0, line.length - TAIL_BYTES));
    const digits = LITERAL_MARKER.exec(tail)?.[1];
    if (digits === undefined) {
      if (line.length >= TAIL_BYTES && CUT_MARKER.test(tail)) {
        throw new ImapLimitExceeded('a literal whose size takes too many digits');
      }
      return null;
    }
    const bytes = Number(digits);
    this.#answer.literals += 1;
    const { literalBytes, commandBytes } = this.#limits;
    if (bytes > literalBytes) {
      const reason = `a literal of more than ${literalBytes} bytes`;
      // What would be too much for the command in any case is not waited for.
      if (bytes > commandBytes) throw new ImapLimitExceeded(reason);
      if (this.#answer.skippedFor === null) this.#refuse(reason);
    }
    if (this.#answer.literals > this.#limits.literalsPerAnswer && this.#answer.skippedFor === null) {
      this.#refuse(`more than ${this.#limits.literalsPerAnswer} literals in one answer`);
    }
    return bytes;
  }

  /** Words and nesting, read as the parser would: quotes count only where a string can begin. */
  #inspect(line: Buffer): void {
    const reason = this.#faultIn(line);
    if (reason !== null) this.#refuse(reason);
  }

  #faultIn(line: Buffer): string | null {
    const answer = this.#answer;
    const { sequenceBytes, words, nesting } = this.#limits;
    const wordBytes = NAMES_FOLDER.test(answer.head) ? this.#limits.pathBytes : this.#limits.wordBytes;
    const isStatus = STATUS.test(answer.head);
    const end = isStatus ? endOfResponseCode(line) : line.length;
    let wordStart = 0;
    let brackets = 0;
    let isSequence = true;
    for (let position = 0; position < end; position += 1) {
      const byte = line[position] as number;
      if (byte === SPACE || byte === OPEN || byte === CLOSE || byte === CR || byte === LF) {
        if (byte === OPEN) answer.depth += 1;
        else if (byte === CLOSE) answer.depth -= 1;
        if (byte === OPEN || position > wordStart) answer.words += 1;
        wordStart = position + 1;
        brackets = 0;
        isSequence = true;
        if (answer.depth > nesting) return `lists nested more than ${nesting} deep`;
        if (answer.words > words) return `more than ${words} words in one answer`;
        continue;
      }
      if (byte === QUOTE && !isStatus && wordStart === position) {
        position = endOfQuoted(line, position);
        wordStart = position + 1;
        answer.words += 1;
        continue;
      }
      if (byte === OPEN_BRACKET) brackets += 1;
      // Each of these may begin or end something of its own without a space.
      if (byte === CLOSE_BRACKET || byte === BACKSLASH) answer.words += 1;
      if (brackets > nesting) return `more than ${nesting} brackets in one word`;
      isSequence &&= isSequenceByte(byte);
      const length = position - wordStart + 1;
      if (length > (isSequence ? sequenceBytes : wordBytes)) {
        return `a word of more than ${wordBytes} bytes`;
      }
    }
    return null;
  }
}

/** Where the part of a status that is parsed ends; what comes after it is text for people. */
function endOfResponseCode(line: Buffer): number {
  const code = STATUS_CODE.exec(line.toString('latin1', 0, HEAD_BYTES));
  if (code === null) return 0;
  let depth = 1;
  for (let position = code[0].length; position < line.length; position += 1) {
    if (line[position] === OPEN_BRACKET) depth += 1;
    else if (line[position] === CLOSE_BRACKET) depth -= 1;
    if (depth === 0) return position + 1;
  }
  return line.length;
}

function isSequenceByte(byte: number): boolean {
  // Digits, ':', ',', '*', and the bracket that ends a response code.
  return (byte >= 0x30 && byte <= 0x3a) || byte === 0x2c || byte === 0x2a || byte === CLOSE_BRACKET;
}

/** The position of the closing quote, or the end of the line. */
function endOfQuoted(line: Buffer, start: number): number {
  for (let position = start + 1; position < line.length; position += 1) {
    const byte = line[position];
    if (byte === BACKSLASH) position += 1;
    else if (byte === QUOTE) return position;
  }
  return line.length;
}
