import { expect, test } from 'vitest';
import { ApiError, ConnectionLost } from './problem.ts';
import { askedAgainMs } from './reading.ts';

const refusal = (status: number) =>
  new ApiError({ status, title: 'No', detail: 'Not now.', code: 'no', request_id: 'req_1' });

test('what could not be read is asked for again, ever more slowly, and at least once a minute', () => {
  const waits = [1, 2, 3, 4, 5, 100].map((failures) => askedAgainMs(refusal(503), failures));
  expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  for (const error of [refusal(500), refusal(429), new ConnectionLost('reset'), new SyntaxError('no JSON')])
    expect(askedAgainMs(error, 1)).toBe(5_000);
});

test('what was refused is not asked for again by itself', () => {
  for (const status of [400, 401, 403, 404, 409, 422]) expect(askedAgainMs(refusal(status), 1)).toBe(false);
});
