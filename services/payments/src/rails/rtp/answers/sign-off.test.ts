import { expect, test } from 'vitest';
import { REJECT_REASONS } from '../codes.ts';
import { railVerdict } from './sign-off.ts';

test('an acceptance and a refusal of one payment say that the rail works, in any letter case', () => {
  for (const code of [null, 'AC04', 'ac04', 'RC04', 'DUPL', 'made up'])
    expect(railVerdict(code)).toBe('works');
});

test('the network or our own bank being out takes the rail down, another bank being out makes it doubtful', () => {
  const verdicts = Map.groupBy(REJECT_REASONS.keys(), railVerdict);
  expect(verdicts.get('out')?.toSorted()).toEqual(['9909', '9934', '9946', '9948', '9956']);
  expect(verdicts.get('doubtful')?.toSorted()).toEqual(['9910', '9912', '9947', '9957']);
});
