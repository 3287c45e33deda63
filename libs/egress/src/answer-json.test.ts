// However long an answer is, looking at it leaves every turn but a slice to everything else.
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { faultOfJson } from './answer-json.ts';

const MIB = 1024 * 1024;
const TOO_MANY = `[${'1,'.repeat(110_000)}1]`;

test.each([
  ['nothing', '', null, 100],
  ['text', 'x', null, 100],
  // Looked at, and then counted.
  ['too many values', TOO_MANY, 'sent more than 100000 values', 200],
])('8 MiB of white space before %s hold up nobody', async (_what, rest, fault, turnsMin) => {
  let isOver = false;
  const looking = faultOfJson(Buffer.from(' \n\r\t'.repeat(2 * MIB) + rest)).finally(() => {
    isOver = true;
  });
  let turns = 0;
  for (; !isOver; turns += 1) await turn();
  expect(await looking).toBe(fault);
  expect(turns).toBeGreaterThan(turnsMin);
});

test('white space alone, or none at all, is no JSON', async () => {
  for (const text of ['', ' ', '\ufeff', '\ufeff \n'])
    expect(await faultOfJson(Buffer.from(text))).toBeNull();
});
