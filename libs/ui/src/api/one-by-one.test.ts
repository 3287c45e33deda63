import { expect, test } from 'vitest';
import { oneByOne } from './one-by-one.ts';
import { ApiError, ConnectionLost } from './problem.ts';

const refusal = (code: string, detail: string) =>
  new ApiError({ title: 'No', status: 409, detail, code, request_id: 'req_1' });

async function act(answers: readonly (Error | 'done')[]) {
  const tried: number[] = [];
  const outcome = await oneByOne([...answers.keys()], async (index) => {
    tried.push(index);
    const answer = answers[index];
    if (answer instanceof Error) throw answer;
  });
  return { ...outcome, tried };
}

test('a refusal keeps nothing from being tried, and each reason is counted', async () => {
  const gone = refusal('not_found', 'wd_1 is gone.');
  const off = refusal('endpoint_disabled', 'The endpoint is off.');
  const { done, failures, tried } = await act([
    ...([gone, 'done', off] as const),
    ...([refusal('not_found', 'wd_4 is gone.'), 'done'] as const),
  ]);
  expect({ done, tried }).toEqual({ done: 2, tried: [0, 1, 2, 3, 4] });
  expect(failures).toEqual([
    { error: gone, count: 2 },
    { error: off, count: 1 },
  ]);
});

test('without an answer the rest is left, and counted as not done', async () => {
  const lost = new ConnectionLost(new Error('offline'));
  const { done, failures, tried } = await act(['done', refusal('gone', 'Gone.'), lost, 'done', 'done']);
  expect({ done, tried }).toEqual({ done: 1, tried: [0, 1, 2] });
  expect(failures.map(({ count }) => count)).toEqual([1, 3]);
  expect(failures[1]?.error).toBe(lost);
});

test('all that are done leave no reason', async () => {
  expect(await act(['done', 'done'])).toMatchObject({ done: 2, failures: [] });
});
