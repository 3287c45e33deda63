import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readArguments } from '../src/cli/arguments.ts';
import { type Option, UsageError } from '../src/cli/command.ts';

const options: Record<string, Option> = {
  amount: { type: 'string', help: '' },
  metadata: { type: 'string', multiple: true, help: '' },
  wait: { type: 'boolean', help: '' },
  help: { type: 'boolean', short: 'h', help: '' },
};

function refusalOr<Read>(read: () => Read): Read | 'refused' {
  try {
    return read();
  } catch {
    return 'refused';
  }
}

test('a command line is read as newer versions of Node read it by themselves', () => {
  const parts = [
    '--amount',
    '--metadata',
    '--wait',
    '--help',
    '-h',
    '-x',
    '--bogus',
    '--',
    '-',
    '',
    '5',
    'a=b',
  ];
  const joined = [
    '--amount=',
    '--amount=-5',
    '--metadata=a=b=c',
    '--wait=yes',
    '--=',
    '--constructor',
    'x\ny',
  ];
  const known = Object.fromEntries(
    Object.entries(options).map(([name, { help: _, multiple = false, ...option }]) => [
      name,
      { ...option, multiple },
    ]),
  );
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...parts, ...joined), { maxLength: 6 }), (args) => {
      const { values, positionals } = refusalOr(() =>
        parseArgs({ args, options: known, allowPositionals: true, strict: true }),
      ) as { values?: object; positionals?: string[] };
      const expected = values === undefined ? 'refused' : { values: { ...values }, positionals };
      expect(refusalOr(() => readArguments(args, options))).toEqual(expected);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  [['--amount'], '--amount needs a value'],
  [['--amount', '--wait'], '--amount needs a value; one that begins with a dash is given as --amount=--wait'],
  [['--wait=1'], '--wait takes no value'],
  [['--undefined'], "Unknown option '--undefined'"],
  [['-undefined'], "Unknown option '-undefined'"],
])('%j is refused with one line', (words, line) => {
  expect(() => readArguments(words, options)).toThrow(new UsageError(line));
});
