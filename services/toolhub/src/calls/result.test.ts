import { expect, test } from 'vitest';
import { failureResult, invalidArguments } from './result.ts';

const fault = (pointer: string) => ({ pointer, code: 'unknown_field', detail: 'This field is not known.' });
const faults = (count: number, rest = '') => Array.from({ length: count }, (_, n) => fault(`/${n}${rest}`));

test('a message names the first places, and says that there are more', () => {
  expect(invalidArguments([fault(''), fault('/a')]).message).toBe(
    'The arguments do not fit this tool: the arguments This field is not known. /a This field is not known.',
  );
  const { message, details } = invalidArguments(faults(7));
  expect(message).toMatch(
    /^The arguments do not fit this tool: \/0 .*\/4 This field is not known\. And 2 more, in errors\.$/,
  );
  expect(details?.errors).toHaveLength(7);
});

test('faults beyond twenty, and what is long in a message, are left out', () => {
  const failure = invalidArguments(faults(100, 'k'.repeat(1_000)));
  expect(failure.details?.errors).toHaveLength(20);
  expect(failure.message.length).toBeLessThanOrEqual(2_001);
  expect(JSON.stringify(failureResult(failure)).length).toBeLessThan(50_000);
});
