// The strict parser accepts exactly what JSON.parse accepts, less repeated keys, bad text and depth.

import { AppError, measureJson } from '@libs/runtime';
import { processorMs } from '@libs/runtime/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson, refuseBadText } from '../index.ts';
import { JSON_LIMITS } from './json-body.ts';

function codeOf(text: string | Buffer): string {
  try {
    parseJson(Buffer.from(text as string));
    return 'accepted';
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

/** Escapes every character, writes odd spaces: the same value in another spelling. */
function respell(value: unknown): string {
  if (typeof value === 'string') {
    return `"${[...value].map((char) => [...Array(char.length).keys()].map((i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')).join('')}"`;
  }
  if (Array.isArray(value)) return `[ ${value.map(respell).join(' ,\t')} ]`;
  if (typeof value === 'object' && value !== null) {
    return `{\n${Object.entries(value)
      .map(([key, item]) => `${respell(key)} :\r\n${respell(item)}`)
      .join(' , ')} }`;
  }
  return JSON.stringify(value);
}

const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0') && value.isWellFormed());
const { value: anyJson } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      text,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.constantFrom('a:b', '":"', '\\', '{"a":1}', '__x'),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      text.filter((key) => key !== '__proto__'),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
}));

describe('parseJson', () => {
  test('reads what JSON.stringify writes, in any spelling', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const plain = JSON.stringify(value);
        expect(JSON.stringify(parseJson(Buffer.from(plain)))).toBe(plain);
        expect(parseJson(Buffer.from(respell(value)))).toEqual(JSON.parse(plain));
      }),
      { numRuns: 300 },
    );
  });

  test('refuses a key repeated anywhere, in any spelling', () => {
    fc.assert(
      fc.property(
        text.filter((key) => key !== '__proto__'),
        anyJson,
        anyJson,
        fc.boolean(),
        (key, one, two, respelled) => {
          const first = JSON.stringify(key);
          const second = respelled ? respell(key) : first;
          const object = `{"_":[${JSON.stringify(one)}],${first}:${JSON.stringify(two)}, ${second} : 1}`;
          expect(codeOf(key === '_' ? `{${first}:1,${second}:2}` : object)).toBe('invalid_json');
          expect(codeOf(`[[${object}]]`)).toBe('invalid_json');
        },
      ),
      { numRuns: 300 },
    );
  });

  test('long strings end where they end, whatever they are made of', () => {
    const piece = fc.oneof(
      fc.constantFrom('"', '\\', '\n', '":', '{', ']', 'ä', '漢', '\u0001'),
      fc.integer({ min: 0, max: 140 }).map((length) => 'x'.repeat(length)),
    );
    const long = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(fc.array(long, { minLength: 1, maxLength: 6 }), (values) => {
        const object = Object.fromEntries(values.map((value, index) => [`${index}${value}`, [value]]));
        const plain = JSON.stringify(object);
        expect(parseJson(Buffer.from(plain))).toEqual(object);
        const [key = ''] = Object.keys(object);
        expect(codeOf(`${plain.slice(0, -1)},${JSON.stringify(key)}:1}`)).toBe('invalid_json');
        expect(codeOf(`${plain.slice(0, -1)},"bad":"${'x'.repeat(100)}\\u0000"}`)).toBe('invalid_request');
      }),
      { numRuns: 300 },
    );
  });

  test('takes a time that grows with the size and not faster, however text is arranged', () => {
    // Far apart, so that each escape is searched for anew; then many strings after the last escape.
    const far = `${'x'.repeat(70)}\\`.repeat(28_000);
    const strings = Array.from({ length: 19_000 }, () => 'y'.repeat(80));
    const value = { far, strings };
    const started = processorMs();
    expect(parseJson(Buffer.from(JSON.stringify(value)))).toEqual(value);
    // 4 MB: some 30 ms, or minutes if every escape looked through the rest.
    expect(processorMs() - started).toBeLessThan(5_000);
  });

  test('names the repeated key, unless the body is so large that nobody wrote it by hand', () => {
    const detailOf = (text: string) => {
      try {
        return parseJson(Buffer.from(text));
      } catch (error) {
        return (error as AppError).detail;
      }
    };
    expect(detailOf('{"a":1,"b":{"c":1,"\\u0063":2}}')).toBe('The body repeats the key "c".');
    const wide = Array.from({ length: 15_000 }, (_, index) => `"a_longer_key${index}":1`).join(',');
    expect(detailOf(`{${wide},"a_longer_key7":1}`)).toBe('The body repeats a key.');
  });

  test('bytes that are no JSON are invalid_json, never anything else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        let parses = true;
        try {
          JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
        } catch {
          parses = false;
        }
        const code = (() => {
          try {
            parseJson(Buffer.from(bytes));
            return 'accepted';
          } catch (error) {
            return (error as AppError).code;
          }
        })();
        if (!parses) expect(code).toBe('invalid_json');
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['"\\ud800"', 'invalid_request'],
    ['"\\udc00\\ud800"', 'invalid_request'],
    ['"\\ud83d\\ude00"', 'accepted'],
    ['"\\u0000"', 'invalid_request'],
    ['"\\\\u0000"', 'accepted'],
    ['{"a\\u0000":1}', 'invalid_request'],
    ['"\\u0001"', 'accepted'],
  ])('%s is %s', (body, code) => {
    expect(codeOf(body)).toBe(code);
  });

  test('allows exactly the depth it says', () => {
    const nest = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(codeOf(nest(JSON_LIMITS.depthMax))).toBe('accepted');
    expect(codeOf(nest(JSON_LIMITS.depthMax + 1))).toBe('invalid_json');
    expect(codeOf(`"${'['.repeat(1_000)}"`)).toBe('accepted');
    expect(codeOf(nest(30_000))).toBe('invalid_json');
  });

  test('allows exactly the number of values it says', () => {
    const list = (length: number) => `[${new Array(length).fill('1').join(',')}]`;
    const { valuesMax } = JSON_LIMITS;
    expect(codeOf(list(valuesMax - 1))).toBe('accepted');
    expect(codeOf(list(valuesMax))).toBe('body_too_large');
    const object = (members: number) =>
      `{${Array.from({ length: members }, (_, index) => `"${index}":{}`).join(',')}}`;
    expect(codeOf(object(valuesMax))).toBe('body_too_large');
    expect(codeOf(JSON.stringify('[,'.repeat(valuesMax)))).toBe('accepted');
  });

  test('never counts fewer values than there are', () => {
    const count = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? 1 + Object.values(value).reduce((sum: number, item) => sum + count(item), 0)
        : 1;
    fc.assert(
      fc.property(anyJson, (value) => {
        fc.pre(count(value) > 1);
        const limits = { valuesMax: count(value) - 1, depthMax: 32 };
        for (const spelling of [JSON.stringify(value), respell(value)]) {
          expect(measureJson(Buffer.from(spelling), limits)).toEqual({ exceeded: 'values' });
        }
      }),
      { numRuns: 300 },
    );
  });

  // In CPU time of this process, because others may have the cores.
  const LARGEST = 16 * 1024 * 1024 - 1_024;
  const fill = (piece: string, around: [string, string] = ['{"a":"', '"}']) =>
    around[0] + piece.repeat(Math.floor(LARGEST / Buffer.byteLength(piece))) + around[1];
  test.each([
    ['short keys', `{${Array.from({ length: 1_000_000 }, (_, i) => `"${i.toString(36)}":1`).join(',')}}`],
    ['small numbers', fill('1,', ['[', '1]'])],
    ['opening brackets', fill('[', ['', ''])],
    ['escapes', fill('\\u4e2d')],
    ['line breaks', fill('\\n')],
    ['quotes', fill('"', ['', ''])],
    ['backslashes', fill('\\', ['"', ''])],
    ['digits', fill('1', ['[', ']'])],
    ['spaces', fill(' ', ['[', ']'])],
    ['base64', fill('QUJD')],
  ])('16 MiB of %s hold nobody up', (_what, body) => {
    const bytes = Buffer.from(body);
    const started = process.cpuUsage();
    codeOf(bytes);
    const { user, system } = process.cpuUsage(started);
    // Many seconds without the count; 100 ms is the goal on a machine of its own, a slow one took five times as long for the same work.
    expect((user + system) / 1_000).toBeLessThan(2_000);
  });
});

test('a form with bad text is refused by the names of its fields', () => {
  refuseBadText(new URLSearchParams('a=1&b=%F0%9F%98%80'));
  const refusal = (() => {
    try {
      refuseBadText(new URLSearchParams('a=1&b=x%00&b=y%00&c%00=z'));
      return undefined;
    } catch (error) {
      return error as AppError;
    }
  })();
  expect(refusal?.status).toBe(400);
  expect(refusal?.details?.map(({ parameter, code }) => [parameter, code])).toEqual([
    ['b', 'invalid_character'],
    ['c\0', 'invalid_character'],
  ]);
});
