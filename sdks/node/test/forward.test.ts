import { expect, test } from 'vitest';
import { UsageError } from '../src/cli/command.ts';
import { readTarget } from '../src/cli/forward.ts';

test.each([
  ['3000', 'http://localhost:3000/'],
  [':3000', 'http://localhost:3000/'],
  ['3000/hooks', 'http://localhost:3000/hooks'],
  [':3000/hooks?a=b', 'http://localhost:3000/hooks?a=b'],
  ['3000?a=b', 'http://localhost:3000/?a=b'],
  ['localhost:3000/hooks', 'http://localhost:3000/hooks'],
  ['[::1]:3000', 'http://[::1]:3000/'],
  ['HTTP://localhost:3000', 'http://localhost:3000/'],
  ['https://example.com/hooks', 'https://example.com/hooks'],
])('%s is forwarded to %s', (text, expected) => {
  expect(readTarget(text)).toBe(expected);
});

test.each(['', 'ftp://localhost/x', 'localhost:99999', '99999', 'user:pass@localhost:3000', '/hooks'])(
  '%j is no address',
  (text) => {
    expect(() => readTarget(text)).toThrow(UsageError);
  },
);
