// What is read in slices means the same as what JSON.parse reads, is refused alike, and holds up nobody.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type JsonRefused, parseInSlices } from './sliced-json.ts';
import { longestTurnMs } from './testing.ts';

const LIMITS = { valuesMax: 20_000, depthMax: 32 };
const MIB = 1024 * 1024;
/** Of the processor: what others may have to wait, by far. */
const SLICE_CPU_MS_MAX = 60;

const faultOf = (text: string | Buffer) =>
  parseInSlices(Buffer.from(text as string), LIMITS).then(
    () => null,
    (error: JsonRefused) => error.fault,
  );

test('gives the value that JSON.parse gives, wherever the slices end', async () => {
  // Long enough that every kind of escape and character is cut somewhere.
  const long = fc
    .tuple(
      fc.constantFrom('x', 'é', '😀', '\n', '\u0001', '"', '\\', '\ud83d'),
      fc.integer({ min: 0, max: 7 }),
    )
    .map(([piece, shift]) => 'a'.repeat(shift) + piece.repeat(70_000));
  const value = fc.oneof(fc.jsonValue({ maxDepth: 5 }), fc.dictionary(fc.string(), long, { maxKeys: 2 }));
  await fc.assert(
    fc.asyncProperty(value, fc.constantFrom(undefined, 2), async (original, indent) => {
      const text = JSON.stringify(original, null, indent);
      const { value: read } = await parseInSlices(Buffer.from(text), LIMITS);
      expect(JSON.stringify(read)).toBe(JSON.stringify(JSON.parse(text)));
    }),
    { numRuns: 60 },
  );
});

test('refuses what JSON.parse refuses', async () => {
  const mangled = fc
    .tuple(
      fc.json(),
      fc.nat(),
      fc.constantFrom('"', '\\', ',', '}', ']', '{', '1', ' ', '\n', '\\u12', 'tru'),
    )
    .map(
      ([text, at, piece]) =>
        text.slice(0, at % (text.length + 1)) + piece + text.slice(at % (text.length + 1)),
    );
  const parses = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  await fc.assert(
    fc.asyncProperty(mangled, async (text) => {
      const fault = await faultOf(text);
      if (fault !== 'repeated_key') expect(fault, text).toBe(parses(text) ? null : 'syntax');
    }),
    { numRuns: 500 },
  );
});

test('lenient, it gives what JSON.parse gives of the decoded text: of bytes that are none, and of repeated keys', async () => {
  const piece = fc.oneof(
    fc.constantFrom('a', '"', '\\', '\\n', '\\u0041', 'é', '😀').map((text) => Buffer.from(text)),
    fc.constantFrom(
      ...[[0xff], [0xc3], [0x80], [0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xc0, 0x80], [0xed, 0xa0, 0x80]].map(
        (bytes) => Buffer.from(bytes),
      ),
    ),
  );
  const long = fc
    .tuple(fc.array(piece, { minLength: 1, maxLength: 4 }), fc.integer({ min: 0, max: 7 }))
    .map(([pieces, shift]) =>
      Buffer.concat([Buffer.alloc(shift, 'a'), Buffer.alloc(80_000, Buffer.concat(pieces))]),
    );
  const text = (...parts: (string | Buffer)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)));
  const parse = (body: Buffer) => {
    try {
      return JSON.stringify(JSON.parse(body.toString('utf8')));
    } catch {
      return 'syntax';
    }
  };
  await fc.assert(
    fc.asyncProperty(long, fc.array(piece, { maxLength: 5 }), async (first, second) => {
      for (const body of [
        text('{"b":1,"a":"', first, '","b":{"', ...second, '":2},"a":"', ...second, '"}'),
        text('["a",', ...second, ']'),
      ]) {
        const read = await parseInSlices(body, LIMITS, { isLenient: true }).then(
          ({ value }) => JSON.stringify(value),
          (error: JsonRefused) => error.fault,
        );
        expect(read).toBe(parse(body));
      }
    }),
    { numRuns: 200 },
  );
});

test('counts values and depth, and names what it refuses', async () => {
  const list = (count: number) => `[${Array(count).fill('1').join(',')}]`;
  expect(await faultOf(list(LIMITS.valuesMax - 1))).toBeNull();
  expect(await faultOf(list(LIMITS.valuesMax))).toBe('values');
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  expect(await faultOf(nested(LIMITS.depthMax))).toBeNull();
  expect(await faultOf('['.repeat(8 * MIB))).toBe('depth');
  expect(await faultOf('{"a":1,"a":2}')).toBe('repeated_key');
  expect(await faultOf(Buffer.from([0x22, 0xff, 0x22]))).toBe('encoding');
  for (const broken of ['', ' ', '{', '{"a"', '{"a":', '"a', '[1,]', '{"a":1,}', '01', '1 2', '\ufeff1'])
    expect(await faultOf(broken), broken).toBe('syntax');
});

test('says what must be looked at, and keeps __proto__ a plain member', async () => {
  const suspicious = async (text: string) => (await parseInSlices(Buffer.from(text), LIMITS)).suspicious;
  expect(await suspicious('{"a":"\\n"}')).toBe(false);
  expect(await suspicious('{"a":"\\u0000"}')).toBe(true);
  const { value, suspicious: isSuspicious } = await parseInSlices(
    Buffer.from('{"__proto__":{"x":1}}'),
    LIMITS,
  );
  expect(isSuspicious).toBe(true);
  expect(Object.keys(value as object)).toEqual(['__proto__']);
  expect((value as { x?: number }).x).toBeUndefined();
});

test.each([
  ['plain text', 'x', 15 * MIB],
  ['escapes', '\\n', 7 * MIB],
  ['escapes between letters', 'x\\n', 5 * MIB],
  ['characters of four bytes', '😀', 3 * MIB],
])('15 MiB of %s hold up nobody', async (_name, piece, times) => {
  const body = Buffer.from(`{"x":"${piece.repeat(times)}"}`);
  let read: unknown;
  const longest = await longestTurnMs(async () => {
    read = (await parseInSlices(body, LIMITS)).value;
  });
  expect((read as { x: string }).x.length).toBe(JSON.parse(`"${piece}"`).length * times);
  expect(longest).toBeLessThan(SLICE_CPU_MS_MAX);
});
