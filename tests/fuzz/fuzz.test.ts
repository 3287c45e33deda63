// A moment of what `npm run fuzz` does for minutes: each parser takes its corpus and inputs that nobody has seen.
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { describeFinding, fuzz, type Target, tryInput } from './fuzz.ts';
import { mutate } from './mutate.ts';
import { createRandom } from './random.ts';
import { targets } from './targets.ts';

const MOMENT_MS = 700;
const INPUTS_MAX = 1_500;
const seed = Date.now() % 2 ** 32;

test.each(targets.map((target) => [target.name, target] as const))('%s', async (_name, target) => {
  const { inputs, finding } = await fuzz(target, { seed, forMs: MOMENT_MS, inputsMax: INPUTS_MAX });
  expect(finding && describeFinding(finding, seed)).toBeUndefined();
  expect(inputs).toBeGreaterThan(5);
});

test('every corpus belongs to a parser', () => {
  const folders = readdirSync(fileURLToPath(new URL('corpus', import.meta.url))).sort();
  expect(folders).toEqual(targets.map(({ name }) => name).sort());
});

describe('the fuzzer itself', () => {
  const planted = (run: Target['run']): Target => ({ name: 'json', words: ['bug'], bytesMax: 4_096, run });

  test('finds an input that makes a parser throw', async () => {
    const target = planted((input) => {
      if (input.includes('bug')) throw new Error('planted');
    });
    const { finding } = await fuzz(target, { seed: 1, forMs: 5_000 });
    expect(finding?.what).toContain('planted');
    expect(describeFinding(finding as never, 1)).toMatch(/^json, seed 1: Error: planted/);
  });

  test('finds an input that takes too long', async () => {
    const target = planted((input) => {
      let sum = 0;
      for (let n = 0; n < (input.length > 3_000 ? 5e8 : 0); n += 1) sum += n % 7;
      if (sum < 0) throw new Error('impossible');
    });
    const { finding } = await tryInput(target, Buffer.alloc(4_000, 'a'));
    expect(finding?.what).toMatch(/^took \d{3,} ms of the processor for 4000 bytes$/);
  });

  test('makes the same inputs from the same seed, within the length', () => {
    const options = { corpus: [Buffer.from('{"a":[1,2,3]}')], words: ['[', 'true'], bytesMax: 500 };
    const make = (from: number) => {
      const random = createRandom(from);
      return Array.from({ length: 500 }, () => mutate(random, options).toString('hex'));
    };
    expect(make(7)).toEqual(make(7));
    expect(make(7)).not.toEqual(make(8));
    expect(Math.max(...make(7).map((hex) => hex.length / 2))).toBeLessThanOrEqual(500);
  });
});
