import {
  type JsonFault,
  type JsonLimits,
  JsonRefused,
  measureJson,
  nextTurn,
  parseInSlices,
} from '@libs/runtime';

/** Enough for the largest page of any vendor; a parser's time is bounded by it, as its memory is by the bytes. */
const ANSWER_JSON_LIMITS: JsonLimits = { valuesMax: 100_000, depthMax: 64 };

const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** What is looked at in one turn of the event loop. */
const SLICE_BYTES = 64 * 1024;

/** However much white space comes first, and with the mark that readers of JSON leave out. */
async function looksLikeJson(bytes: Buffer): Promise<boolean> {
  const text = withoutMark(bytes);
  let position = 0;
  while (position < text.length) {
    const sliceEnd = Math.min(position + SLICE_BYTES, text.length);
    while (position < sliceEnd && SPACES.has(text[position] as number)) position += 1;
    if (position < sliceEnd) break;
    await nextTurn();
  }
  return text[position] === OPEN_BRACE || text[position] === OPEN_BRACKET;
}

function withoutMark(bytes: Buffer): Buffer {
  const { length } = BYTE_ORDER_MARK;
  return bytes.subarray(0, length).equals(BYTE_ORDER_MARK) ? bytes.subarray(length) : bytes;
}

/** Counting what is longer would hold up everything else, so it goes in slices. */
const LARGE_BYTES = 256 * 1024;

/** Why an answer must not be parsed, where it looks like JSON; completes "the server …". */
export async function faultOfJson(bytes: Buffer): Promise<string | null> {
  if (!(await looksLikeJson(bytes))) return null;
  const fault = bytes.length > LARGE_BYTES ? await faultInSlices(bytes) : excessOf(bytes);
  return fault === null ? null : FAULTS[fault];
}

type Fault = Extract<JsonFault, 'values' | 'depth'>;

const FAULTS: Readonly<Record<Fault, string>> = {
  values: `sent more than ${ANSWER_JSON_LIMITS.valuesMax} values`,
  depth: `sent more than ${ANSWER_JSON_LIMITS.depthMax} levels`,
};

function excessOf(bytes: Buffer): Fault | null {
  const shape = measureJson(bytes, ANSWER_JSON_LIMITS);
  return 'exceeded' in shape ? shape.exceeded : null;
}

/** As leniently as it is parsed afterwards. Behind a fault of its syntax nothing is counted, and no parser reads on there. */
async function faultInSlices(bytes: Buffer): Promise<Fault | null> {
  try {
    await parseInSlices(withoutMark(bytes), ANSWER_JSON_LIMITS, { isLenient: true });
    return null;
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    return error.fault === 'values' || error.fault === 'depth' ? error.fault : null;
  }
}
