import { expect, test } from 'vitest';
import { nachaFields } from './nacha-fields.ts';
import { fieldsOf } from './nacha-record.ts';

const entry = `6${'22'}${'110000000'}${'000123456789'.padEnd(17)}${'0000002500'}${'pay_1'.padEnd(15)}${'Bob'.padEnd(22)}  0${'091000010000001'}`;
const lines = [
  ...['1', '5', '8', '9'].map((type) => type.padEnd(94, ' ')),
  entry,
  ...['705', '798', '799'].map((type) => type.padEnd(94)),
];

test('every field of every record is explained', () => {
  for (const line of lines) {
    for (const { name } of fieldsOf(line))
      expect([name, nachaFields[name]?.[0]]).toEqual([name, expect.any(String)]);
  }
});

test('fields cover the line, so that nothing is hidden', () => {
  for (const line of [...lines, '9'.repeat(94), 'odd']) {
    expect(
      fieldsOf(line)
        .map(({ text }) => text)
        .join(''),
    ).toBe(line);
  }
  expect(fieldsOf(entry).find(({ name }) => name === 'amount')?.text).toBe('0000002500');
});
