import { SealError } from './errors.ts';
import type { RandomBytes } from './tokens.ts';

// Digits come before letters and one letter case is used, so the order is the same under every collation of Postgres.
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const COUNTER_CHARACTERS = 4;
const RANDOM_CHARACTERS = 12;
const COUNTER_LIMIT = 32 ** COUNTER_CHARACTERS;
/** A new millisecond starts in the lower half, which leaves room for half a million ids before it is full. */
const COUNTER_START_LIMIT = COUNTER_LIMIT / 2;
const RANDOM_POOL_IDS = 256;

/** Characters behind the prefix: milliseconds, counter, randomness. */
export const ID_CHARACTERS = TIME_CHARACTERS + COUNTER_CHARACTERS + RANDOM_CHARACTERS;

export type NewId = (prefix: string) => string;

export interface IdFactoryOptions {
  readonly now: () => Date;
  readonly randomBytes: RandomBytes;
}

function encodeNumber(value: number, characters: number): string {
  let rest = value;
  let text = '';
  for (let index = 0; index < characters; index += 1) {
    text = BASE32.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** Every two characters, so that they are put together two at a time: a payment takes four ids. */
const PAIRS = Array.from(
  { length: 1024 },
  (_, value) => BASE32.charAt(value >> 5) + BASE32.charAt(value & 31),
);

function encodeBytes(bytes: Buffer, offset: number, characters: number): string {
  let text = '';
  for (let index = 0; index < characters; index += 2) {
    const high = (bytes[offset + index] ?? 0) & 31;
    const low = (bytes[offset + index + 1] ?? 0) & 31;
    text += PAIRS[(high << 5) | low];
  }
  return text;
}

function checkPrefix(prefix: string): void {
  if (!/^[a-z][a-z0-9_]*$/.test(prefix)) throw new SealError('bad_prefix', `not an id prefix: ${prefix}`);
}

/** One id that sorts by its time; for ids that also ascend within a millisecond, take `createIdFactory`. */
export function newId(prefix: string, nowMs: number, randomBytes: RandomBytes): string {
  checkPrefix(prefix);
  const random = randomBytes(COUNTER_CHARACTERS + RANDOM_CHARACTERS);
  return `${prefix}_${encodeNumber(nowMs, TIME_CHARACTERS)}${encodeBytes(random, 0, random.length)}`;
}

/** The milliseconds that an id was made at, or undefined for text that is no id of ours. */
export function idTimeMs(id: string): number | undefined {
  const body = id.slice(id.lastIndexOf('_') + 1);
  return body.length === ID_CHARACTERS ? decodeTime(body) : undefined;
}

function decodeTime(body: string): number | undefined {
  let timeMs = 0;
  for (const character of body.slice(0, TIME_CHARACTERS)) {
    const digit = BASE32.indexOf(character);
    if (digit < 0) return undefined;
    timeMs = timeMs * 32 + digit;
  }
  return timeMs;
}

/** Comes after every id that was made before this time, and before every other. */
export function idBorder(prefix: string, timeMs: number): string {
  checkPrefix(prefix);
  return `${prefix}_${encodeNumber(timeMs, TIME_CHARACTERS)}`;
}

/** The milliseconds of a border, or undefined for text that is none. */
export function idBorderTimeMs(border: string): number | undefined {
  const body = border.slice(border.lastIndexOf('_') + 1);
  return body.length === TIME_CHARACTERS ? decodeTime(body) : undefined;
}

/** Ids of one factory ascend strictly, also within a millisecond and when the clock is set back. */
export function createIdFactory(options: IdFactoryOptions): NewId {
  const poolBytes = RANDOM_POOL_IDS * RANDOM_CHARACTERS;
  const knownPrefixes = new Set<string>();
  let pool: Buffer = Buffer.alloc(0);
  let poolOffset = 0;
  let lastMs = -1;
  let counter = 0;
  let timeText = '';

  /** The offset of so many random bytes in the pool: drawing them one id at a time costs more than all the rest. */
  function takeRandom(bytes: number): number {
    if (poolOffset + bytes > pool.length) {
      pool = options.randomBytes(poolBytes);
      poolOffset = 0;
    }
    poolOffset += bytes;
    return poolOffset - bytes;
  }

  function startMillisecond(timeMs: number): void {
    lastMs = timeMs;
    const offset = takeRandom(4);
    counter = pool.readUInt32BE(offset) % COUNTER_START_LIMIT;
    timeText = encodeNumber(timeMs, TIME_CHARACTERS);
  }

  return (prefix) => {
    // Prefixes are a handful of constants; checking each of them once keeps the test off the hot path.
    if (!knownPrefixes.has(prefix)) {
      checkPrefix(prefix);
      if (knownPrefixes.size < 1000) knownPrefixes.add(prefix);
    }
    const nowMs = options.now().getTime();
    if (nowMs > lastMs) startMillisecond(nowMs);
    else if (counter + 1 < COUNTER_LIMIT) counter += 1;
    else startMillisecond(lastMs + 1);
    const offset = takeRandom(RANDOM_CHARACTERS);
    const random = encodeBytes(pool, offset, RANDOM_CHARACTERS);
    return `${prefix}_${timeText}${encodeNumber(counter, COUNTER_CHARACTERS)}${random}`;
  };
}
