// However long the keys of a refused body are, its answer is short, and made in no time.
import type { AppError } from '@libs/runtime';
import { processorMs } from '@libs/runtime/testing';
import Type from 'typebox';
import { describe, expect, test } from 'vitest';
import { parseJson, readLargeJson } from './json-body.ts';
import { cutPointer, pointerTo, shownKey } from './pointer.ts';
import { explain, type JsonSchema } from './schema-explain.ts';
import { bodyValidator } from './validation.ts';

const KIB = 1024;
/** A hundred faults of which each says where it is and why. */
const FAULTS_LENGTH_MAX = 256 * KIB;
/** What one input may cost. */
const CPU_MS_MAX = 100;

const Person = Type.Object({ name: Type.String() }, { additionalProperties: false });
const objectOf = (keys: readonly string[], value: unknown = 1) =>
  Object.fromEntries(keys.map((key) => [key, value]));
const numbered = (count: number, rest: string) => Array.from({ length: count }, (_, n) => `${n}${rest}`);
function nested(depth: number, key: string, inmost: unknown): unknown {
  return depth === 0 ? inmost : { [key]: nested(depth - 1, key, inmost) };
}

function refusalOf(body: string) {
  const parsed = (() => {
    try {
      return { value: parseJson(Buffer.from(body), { hasSchema: true }) };
    } catch (error) {
      return { error: error as AppError };
    }
  })();
  const verdict = 'value' in parsed ? bodyValidator(Person)(parsed.value) : parsed;
  return verdict !== true && 'error' in verdict ? (verdict.error.details ?? []) : [];
}

const NUL = '\0';
const hostile: [string, string][] = [
  ['bad keys below a long one', JSON.stringify({ ['k'.repeat(200 * KIB)]: objectOf(numbered(100, NUL)) })],
  ['bad texts below long ones', JSON.stringify(nested(25, 'k'.repeat(2 * KIB), numbered(100, NUL)))],
  ['bad texts below many short ones', JSON.stringify(nested(25, 'k'.repeat(100), numbered(100, NUL)))],
  [
    'bad texts below control characters',
    JSON.stringify(nested(25, '\u0001'.repeat(100), numbered(100, NUL))),
  ],
  ['more bad keys than are named', JSON.stringify(objectOf(numbered(19_000, NUL)))],
  ['an unknown field with a long name', JSON.stringify({ ['k'.repeat(15 * KIB * KIB)]: 1 })],
  [
    'unknown fields of which each sign is escaped',
    JSON.stringify(objectOf(numbered(20, '~/'.repeat(300 * KIB)))),
  ],
  ['bad keys that are long', JSON.stringify(objectOf(numbered(20, NUL + '~/'.repeat(300 * KIB))))],
];

test.each(hostile)('%s: the answer is short', (_what, body) => {
  const faults = refusalOf(body);
  expect(faults.length).toBeGreaterThan(0);
  expect(faults.length).toBeLessThanOrEqual(100);
  expect(JSON.stringify(faults).length).toBeLessThan(FAULTS_LENGTH_MAX);
});

test.each(hostile)('%s: what reads it in slices says no more', async (_what, body) => {
  const { badText } = await readLargeJson(Buffer.from(body));
  expect(JSON.stringify(badText).length).toBeLessThan(FAULTS_LENGTH_MAX);
});

test('a bad text below a long key is told of once, at the key', () => {
  const faults = refusalOf(JSON.stringify({ name: 'x', ['k'.repeat(129)]: { a: [NUL], b: NUL } }));
  expect(faults).toEqual([
    { pointer: `/${'k'.repeat(128)}…`, code: 'invalid_character', detail: expect.any(String) },
  ]);
  expect(refusalOf(JSON.stringify({ name: NUL, long: { ['k'.repeat(128)]: NUL } }))).toMatchObject([
    { pointer: '/name' },
    { pointer: `/long/${'k'.repeat(128)}` },
    { pointer: '/long' },
  ]);
});

function costMs(work: () => unknown): number {
  const before = processorMs();
  work();
  return processorMs() - before;
}

describe('unknown fields without number', () => {
  const Tagged = Type.Union([
    Type.Object({ type: Type.Literal('a') }, { additionalProperties: false }),
    Type.Object({ type: Type.Literal('b') }, { additionalProperties: false }),
  ]);

  test('cost no more than those that are named', () => {
    const value = { type: 'c', ...objectOf(numbered(19_000, '')) };
    expect(costMs(() => explain(Tagged as JsonSchema, value))).toBeLessThan(CPU_MS_MAX);
  });

  test('of megabytes cost little', () => {
    const value = objectOf(numbered(20, '~/'.repeat(300 * KIB)));
    expect(costMs(() => explain(Person as JsonSchema, value))).toBeLessThan(CPU_MS_MAX);
  });
});

test('pointers escape their keys, and cut them before that and never amid a character', () => {
  expect(pointerTo('/a', 'b/c~d')).toBe('/a/b~1c~0d');
  expect(pointerTo('', 3)).toBe('/3');
  expect(pointerTo('', '/'.repeat(129))).toBe(`/${'~1'.repeat(128)}…`);
  expect(shownKey('k'.repeat(128))).toBe('k'.repeat(128));
  expect(shownKey(`${'k'.repeat(127)}😀`)).toBe(`${'k'.repeat(127)}…`);
  expect(cutPointer('/a~1b/0')).toBe('/a~1b/0');
  expect(cutPointer(`/a/${'~1'.repeat(200)}`)).toBe(`/a/${'~1'.repeat(128)}…`);
});
