import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvLine } from './csv.ts';

test('what a spreadsheet would run is text, whatever stands before it', () => {
  for (const cell of [
    '=cmd|calc',
    '+1',
    '-1',
    '@SUM(1)',
    '\t=1',
    '\r=1',
    '\n=1',
    ' =1',
    '  +1',
    '＝1',
    '＋1',
    '－1',
    '＠1',
    '\n',
  ]) {
    const line = csvLine([cell]);
    expect(line.replace(/^"/, ''), JSON.stringify(cell)).toMatch(/^'/);
  }
  expect(csvLine(['a=b', '{"a":"=b"}', '2026-11-15', -5, null, ''])).toBe(
    'a=b,"{""a"":""=b""}",2026-11-15,-5,,\r\n',
  );
});

/** As RFC 4180 reads a line: a comma that an even number of quotes stands before ends a field. */
function read(line: string): string[] {
  const fields = [''];
  for (const part of line.slice(0, -2).split(',')) {
    const last = fields.at(-1) as string;
    const isOpen = last.split('"').length % 2 === 0;
    if (isOpen) fields[fields.length - 1] = `${last},${part}`;
    else fields.push(part);
  }
  return fields.slice(1).map((field) => field.replace(/^"([\s\S]*)"$/, '$1').replaceAll('""', '"'));
}

test('a line is read back as it was, but for the mark before what looks like a formula', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 5 }), (cells) => {
      const found = read(csvLine(cells));
      expect(found).toHaveLength(cells.length);
      for (const [index, cell] of cells.entries()) expect([cell, `'${cell}`]).toContain(found[index]);
    }),
  );
});
