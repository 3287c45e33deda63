import type { Random } from './random.ts';

/** What parsers trip over, whatever they parse. */
const ODD: readonly Buffer[] = [
  ...['', '\0', '\n', '\r\n', ' ', '"', "'", '\\', '\\u0000', '\\ud800', '<', '>', '&', ';', ',', '='],
  ...[
    '{',
    '}',
    '[',
    ']',
    '(',
    ')',
    '-',
    '.',
    '/',
    '@',
    '#',
    '%00',
    '%',
    '0',
    '-0',
    '1e999',
    '9007199254740993',
  ],
  ...['null', 'true', '__proto__', 'constructor', '\u202e', '\ufeff', '\u{1f4b8}', 'e\u0301'],
].map((text) => Buffer.from(text));
const BROKEN_UTF8: readonly Buffer[] = [
  Buffer.from([0xff]),
  Buffer.from([0xc0, 0x80]),
  Buffer.from([0xed, 0xa0, 0x80]),
];

export interface MutateOptions {
  readonly corpus: readonly Buffer[];
  /** Words of the language that is parsed. */
  readonly words: readonly string[];
  readonly bytesMax: number;
}

type Change = (input: Buffer, random: Random, options: MutateOptions) => Buffer;

function cut(input: Buffer, random: Random): readonly [number, number] {
  const start = random.integer(input.length + 1);
  const long = random.integer(2) === 0 ? 8 : input.length;
  return [start, Math.min(input.length, start + random.integer(long + 1))];
}

const replaceRange = (input: Buffer, start: number, end: number, by: Buffer) =>
  Buffer.concat([input.subarray(0, start), by, input.subarray(end)]);

const changes: readonly Change[] = [
  // One byte.
  (input, random) => {
    const copy = Buffer.from(input);
    if (copy.length > 0) copy[random.integer(copy.length)] = random.integer(256);
    return copy;
  },
  // A part is gone.
  (input, random) => replaceRange(input, ...cut(input, random), Buffer.alloc(0)),
  // A part is something odd, or a word of the language.
  (input, random, { words }) => {
    const odd =
      random.integer(2) === 0 ? Buffer.from(random.pick(words)) : random.pick([...ODD, ...BROKEN_UTF8]);
    return replaceRange(input, ...cut(input, random), odd);
  },
  (input, random, { words }) => {
    const at = random.integer(input.length + 1);
    return replaceRange(input, at, at, Buffer.from(random.pick(words)));
  },
  // A part comes again and again: what is slow shows itself here.
  (input, random, { bytesMax }) => {
    const [start, end] = cut(input, random);
    const part = input.subarray(start, end);
    if (part.length === 0) return input;
    const times = random.pick([2, 10, 100, Math.ceil(bytesMax / part.length)]);
    const room = Math.max(1, Math.floor((bytesMax - input.length) / part.length));
    return replaceRange(input, end, end, Buffer.concat(Array(Math.min(times, room)).fill(part)));
  },
  // The same for a word alone.
  (input, random, { words, bytesMax }) => {
    const word = Buffer.from(random.pick(words));
    const times = random.pick([30, 1_000, Math.ceil(bytesMax / Math.max(1, word.length))]);
    const at = random.integer(input.length + 1);
    return replaceRange(input, at, at, Buffer.concat(Array(times).fill(word)));
  },
  // Half of this, half of another.
  (input, random, { corpus }) => {
    const other = random.pick(corpus);
    return Buffer.concat([
      input.subarray(0, random.integer(input.length + 1)),
      other.subarray(random.integer(other.length + 1)),
    ]);
  },
  // Two parts change places.
  (input, random) => {
    const [start, end] = cut(input, random);
    const part = input.subarray(start, end);
    const rest = replaceRange(input, start, end, Buffer.alloc(0));
    const at = random.integer(rest.length + 1);
    return replaceRange(rest, at, at, part);
  },
];

const CHANGES_MAX = 4;

/** An input of the corpus, changed in one to four ways. */
export function mutate(random: Random, options: MutateOptions): Buffer {
  let input = random.pick(options.corpus);
  for (let count = 1 + random.integer(CHANGES_MAX); count > 0; count -= 1)
    input = random.pick(changes)(input, random, options).subarray(0, options.bytesMax);
  return input;
}
