import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  boolArray,
  byteaArray,
  type Database,
  int8Array,
  jsonbArray,
  textArray,
  timestamptzArray,
} from './index.ts';
import { createTestDatabase, type TestDatabase } from './testing.ts';

let test_: TestDatabase;
let database: Database;
beforeAll(async () => {
  test_ = await createTestDatabase();
  database = test_.database;
});
afterAll(() => test_.drop());

async function stored(type: string, array: Buffer): Promise<unknown> {
  const { rows } = await database.query<{ back: unknown }>(`select to_json($1::${type}[]) as back`, [array]);
  return rows[0]?.back;
}

const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0') && value.isWellFormed());

test('texts arrive as they are, with quotes, braces, nulls and any script', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(text)), async (values) => {
      expect(await stored('text', textArray(values))).toEqual(values);
    }),
    {
      // Short ones of ASCII are written together, the others one by one.
      examples: [
        [['{"a":"\\"}', '', 'NULL', null, '雪 🎿']],
        [['a', null, null, 'b'.repeat(127)]],
        [['a', null, 'b'.repeat(128)]],
        [['ÿÿÿÿ', null, 'a']],
        [[null]],
      ],
      numRuns: 50,
    },
  );
});

test('JSON, numbers, times, booleans and bytes arrive as they are', async () => {
  const json = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('\\u0000'));
  const row = fc.record({
    json: json.map((value) => JSON.stringify(value)).filter((value) => !/\\ud[89a-f]/i.test(value)),
    number: fc.maxSafeInteger(),
    time: fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }),
    flag: fc.boolean(),
    bytes: fc.uint8Array().map((value) => Buffer.from(value)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row), async (rows) => {
      const { rows: back } = await database.query(
        `select (a.json)::text = (b.json::jsonb)::text as json, number, time, flag, bytes
         from rows from (unnest($1::jsonb[]), unnest($2::bigint[]), unnest($3::timestamptz[]), unnest($4::boolean[]),
           unnest($5::bytea[])) with ordinality as a (json, number, time, flag, bytes, place)
         join unnest($6::text[]) with ordinality as b (json, place) using (place) order by place`,
        [
          jsonbArray(rows.map(({ json }) => json)),
          int8Array(rows.map(({ number }) => number)),
          timestamptzArray(rows.map(({ time }) => time)),
          boolArray(rows.map(({ flag }) => flag)),
          byteaArray(rows.map(({ bytes }) => bytes)),
          textArray(rows.map(({ json }) => json)),
        ],
      );
      expect(back).toEqual(
        rows.map(({ number, time, flag, bytes }) => ({ json: true, number, time, flag, bytes })),
      );
    }),
    { numRuns: 50 },
  );
});

test('what is not exact is refused before it is sent', () => {
  expect(() => int8Array([0.5])).toThrow('not an exact integer');
});
