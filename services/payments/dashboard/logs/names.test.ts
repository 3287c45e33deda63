import { expect, test } from 'vitest';
import { namesOf } from './names.ts';

const PAGE = 100;

/** A list of so many, of which each page leads to the next, and the cursors that it was asked for. */
function listOf(count: number) {
  const asked: (string | undefined)[] = [];
  const all = Array.from({ length: count }, (_, n) => ({ id: `key_${n}`, name: `Server ${n}` }));
  const read = async (cursor: string | undefined) => {
    asked.push(cursor);
    const end = Number(cursor ?? 0) + PAGE;
    return { data: all.slice(end - PAGE, end), next_cursor: end < count ? String(end) : null };
  };
  return { read, asked };
}

test('names are found on whichever page they are, and no page is read behind the last of them', async () => {
  const { read, asked } = listOf(250);
  expect([...(await namesOf(['key_3', 'key_150'], read))]).toEqual([
    ['key_3', 'Server 3'],
    ['key_150', 'Server 150'],
  ]);
  expect(asked).toEqual([undefined, '100']);
});

test('what has no name is looked for to the end of the list, and no further than twenty pages', async () => {
  const short = listOf(250);
  expect(await namesOf(['key_gone', 'key_249'], short.read)).toEqual(new Map([['key_249', 'Server 249']]));
  expect(short.asked).toHaveLength(3);
  const long = listOf(3_000);
  expect(await namesOf(['key_gone'], long.read)).toEqual(new Map());
  expect(long.asked).toHaveLength(20);
});

test('nothing is read where no name is needed', async () => {
  const { read, asked } = listOf(250);
  expect(await namesOf([], read)).toEqual(new Map());
  expect(asked).toEqual([]);
});
