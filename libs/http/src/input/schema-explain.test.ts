// The explanation and the compiled check must agree: a value has errors exactly when the check refuses it.
import { processorMs } from '@libs/runtime/testing';
import fc from 'fast-check';
import Type, { type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import { stringMap } from '../index.ts';
import { asParameters, explain, type JsonSchema } from './schema-explain.ts';
import { bodyValidator } from './validation.ts';

const closed = { additionalProperties: false };
const Schema = Type.Object(
  {
    integer: Type.Integer({ minimum: 1, maximum: 5 }),
    number: Type.Optional(Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1, multipleOf: 0.25 })),
    text: Type.Optional(Type.String({ minLength: 2, maxLength: 3 })),
    pattern: Type.Optional(Type.String({ pattern: '^[a-z]+$' })),
    time: Type.Optional(Type.String({ format: 'date-time' })),
    choice: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b'), Type.Literal(3), Type.Null()])),
    listed: Type.Optional(Type.Enum(['x', 'y'])),
    nullable: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    list: Type.Optional(
      Type.Array(Type.Object({ a: Type.Boolean() }, closed), { minItems: 1, maxItems: 2, uniqueItems: true }),
    ),
    map: Type.Optional(stringMap({ pairsMax: 2, keyLengthMax: 3, valueLengthMax: 3 })),
    record: Type.Optional(Type.Record(Type.String({ pattern: '^k' }), Type.Integer(), closed)),
    tagged: Type.Optional(
      Type.Union([
        Type.Object(
          { type: Type.Literal('bank'), bank: Type.Object({ number: Type.String() }, closed) },
          closed,
        ),
        Type.Object({ type: Type.Literal('cash') }, closed),
      ]),
    ),
    both: Type.Optional(
      Type.Intersect([Type.Object({ p: Type.String() }), Type.Object({ q: Type.Integer() })]),
    ),
  },
  closed,
);

function errorsOf(schema: TSchema, value: unknown): [string, string][] {
  return explain(schema as JsonSchema, value).map((error) => [error.pointer, error.code]);
}

describe('explain', () => {
  test('a value without the pattern or format is told in the words of its schema, where it has some', () => {
    const detailOf = (schema: object) =>
      explain({ type: 'string', ...schema } as JsonSchema, ' ').map(({ detail }) => detail);
    const words = { 'x-mismatch': 'Must be a name.' };
    expect(detailOf({ pattern: '^[a-z]+$', ...words })).toEqual(['Must be a name.']);
    expect(detailOf({ format: 'date-time', ...words })).toEqual(['Must be a name.']);
    expect(detailOf({ pattern: '\\S' })).toEqual(['Must not be blank.']);
    expect(detailOf({ pattern: '^[a-z]+$' })).toEqual(['Must match ^[a-z]+$.']);
  });

  test.each<[string, unknown, [string, string][]]>([
    ['nothing wrong', { integer: 1 }, []],
    ['missing', {}, [['/integer', 'required']]],
    [
      'bounds',
      { integer: 6, number: 0, text: 'a' },
      [
        ['/integer', 'too_large'],
        ['/number', 'too_small'],
        ['/text', 'too_short'],
      ],
    ],
    ['code points count', { integer: 1, text: '😀😀😀' }, []],
    ['too long', { integer: 1, text: '😀😀😀😀' }, [['/text', 'too_long']]],
    [
      'formats',
      { integer: 1, pattern: 'A', time: 'soon' },
      [
        ['/pattern', 'invalid_format'],
        ['/time', 'invalid_format'],
      ],
    ],
    [
      'choices',
      { integer: 1, choice: 'c', listed: 'z' },
      [
        ['/choice', 'not_allowed'],
        ['/listed', 'not_allowed'],
      ],
    ],
    ['union of types', { integer: 1, nullable: 5 }, [['/nullable', 'wrong_type']]],
    [
      'arrays',
      { integer: 1, list: [{ a: 1 }, { b: 2 }, {}] },
      [
        ['/list', 'too_many_items'],
        ['/list/0/a', 'wrong_type'],
        ['/list/1/a', 'required'],
        ['/list/1/b', 'unknown_field'],
        ['/list/2/a', 'required'],
      ],
    ],
    ['repeated items', { integer: 1, list: [{ a: true }, { a: true }] }, [['/list', 'repeated_item']]],
    [
      'maps',
      { integer: 1, map: { a: 1, toolong: 'x', b: 'abcd' } },
      [
        ['/map', 'too_many_fields'],
        ['/map/a', 'wrong_type'],
        ['/map/toolong', 'invalid_key'],
        ['/map/b', 'too_long'],
      ],
    ],
    [
      'a name with a line break',
      { integer: 1, map: { 'a\nb': { evil: true } } },
      [['/map/a\nb', 'wrong_type']],
    ],
    [
      'records',
      { integer: 1, record: { k: 'x', z: 1 } },
      [
        ['/record/k', 'wrong_type'],
        ['/record/z', 'unknown_field'],
      ],
    ],
    [
      'the branch with the tag explains',
      { integer: 1, tagged: { type: 'bank', bank: { x: 1 } } },
      [
        ['/tagged/bank/number', 'required'],
        ['/tagged/bank/x', 'unknown_field'],
      ],
    ],
    ['an unknown tag', { integer: 1, tagged: { type: 'gold', bank: {} } }, [['/tagged/type', 'not_allowed']]],
    [
      'an unknown tag, and what no branch has',
      { integer: 1, tagged: { type: 'gold', bank: {}, weight: 1 } },
      [
        ['/tagged/type', 'not_allowed'],
        ['/tagged/weight', 'unknown_field'],
      ],
    ],
    ['no tag', { integer: 1, tagged: {} }, [['/tagged/type', 'required']]],
    ['not even an object', { integer: 1, tagged: 7 }, [['/tagged', 'wrong_type']]],
    [
      'both parts',
      { integer: 1, both: { q: 'x' } },
      [
        ['/both/p', 'required'],
        ['/both/q', 'wrong_type'],
      ],
    ],
    ['not an object at all', 'text', [['', 'wrong_type']]],
  ])('%s', (_name, value, expected) => {
    expect(errorsOf(Schema, value)).toEqual(expected);
    expect(Compile(Schema).Check(value)).toBe(expected.length === 0);
  });

  test.each<[string, TSchema, unknown, [string, string][]]>([
    [
      'a text of megabytes that is too long',
      Type.Object({ text: Type.String({ maxLength: 1_000_000 }) }),
      { text: 'x'.repeat(15_000_000) },
      [['/text', 'too_long']],
    ],
    [
      'a text of megabytes beside what is wrong',
      Type.Object({ text: Type.String({ maxLength: 14_000_000 }), count: Type.Integer() }),
      { text: 'x'.repeat(14_000_000), count: 'none' },
      [['/count', 'wrong_type']],
    ],
    [
      'long texts with one beginning in place of numbers that differ',
      Type.Object({ list: Type.Array(Type.Integer(), { uniqueItems: true }) }),
      { list: Array.from({ length: 490 }, (_, item) => `${'x'.repeat(32_000)}${1_000 + item}`) },
      Array.from({ length: 100 }, (_, item) => [`/list/${item}`, 'wrong_type']),
    ],
  ])('%s costs little to explain', (_name, schema, value, expected) => {
    const startedMs = processorMs();
    const found = errorsOf(schema, value);
    expect(processorMs() - startedMs).toBeLessThan(100);
    expect(found.slice(0, expected.length)).toEqual(expected);
  });

  test('agrees with the compiled check on any value', () => {
    const check = Compile(Schema);
    const leaf = fc.oneof(
      fc.constantFrom<unknown>(
        'a',
        'b',
        'ab',
        'abcd',
        'k',
        'x',
        3,
        0.25,
        0.5,
        5,
        6,
        -1,
        true,
        null,
        '2026-01-01T00:00:00Z',
        {},
        [],
      ),
      fc.jsonValue({ maxDepth: 2 }),
    );
    const tagged = fc.record(
      { type: fc.constantFrom('bank', 'cash', 'gold'), bank: fc.record({ number: leaf }) },
      { requiredKeys: [] },
    );
    const value = fc.record(
      {
        integer: fc.oneof(fc.integer({ min: 0, max: 6 }), leaf),
        number: leaf,
        text: leaf,
        pattern: leaf,
        time: leaf,
        choice: leaf,
        listed: leaf,
        nullable: leaf,
        list: fc.oneof(leaf, fc.array(fc.record({ a: leaf }, { requiredKeys: [] }), { maxLength: 3 })),
        map: fc.oneof(leaf, fc.dictionary(fc.string({ maxLength: 4 }), leaf, { maxKeys: 3 })),
        record: fc.oneof(leaf, fc.dictionary(fc.constantFrom('k', 'k1', 'z'), leaf)),
        tagged: fc.oneof(leaf, tagged),
        both: fc.oneof(leaf, fc.record({ p: leaf, q: leaf }, { requiredKeys: [] })),
        extra: leaf,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(value, (candidate) => {
        expect(errorsOf(Schema, candidate).length === 0).toBe(check.Check(candidate));
      }),
      { numRuns: 1_000 },
    );
  });

  test('keywords it does not know still refuse, with the place', () => {
    const Odd = Type.Object({ a: Type.Unsafe<number>({ not: { type: 'string' } }) });
    const verdict = bodyValidator(Odd)({ a: 'text' });
    expect(verdict).toMatchObject({
      error: { code: 'invalid_request', details: [{ pointer: '/a', code: 'invalid' }] },
    });
  });

  test('the number of errors is bounded', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`f${index}`, 1]));
    expect(explain({ type: 'object', additionalProperties: false }, many)).toHaveLength(100);
  });

  test('parameters have names, not pointers', () => {
    expect(asParameters([{ pointer: '/metadata[a~1b]', code: 'required', detail: '' }])).toEqual([
      { parameter: 'metadata[a/b]', code: 'required', detail: 'This parameter is required.' },
    ]);
  });
});
