// The budgets of SECURITY.md are those of the code.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const text = readFileSync(`${root}/SECURITY.md`, 'utf8');

const ROW =
  /^\| (?<what>[^|]+?) +\| (?<budget>[\d,]+(?: \w+)?) +\| `(?<name>[\w.]+)` in `(?<file>[^`]+)` +\|$/;

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  KiB: 1024,
  MiB: 1024 * 1024,
  ms: 1,
  s: 1_000,
  min: 60_000,
};

/** In the unit of the constant: bytes, milliseconds unless its name says seconds, or a plain number. */
function budgetOf(budget: string, name: string): number {
  const [digits = '', unit = ''] = budget.split(' ');
  const factor = UNITS[unit];
  if (factor === undefined) throw new Error(`${budget} has an unknown unit`);
  return (Number(digits.replaceAll(',', '')) * factor) / (name.endsWith('_SECONDS') ? 1_000 : 1);
}

/** The number behind a name of this file: digits, products, and other names of the file. */
function evaluate(source: string, expression: string): number {
  return expression
    .split('*')
    .map((part) => part.trim().replaceAll('_', ''))
    .map((part, index) => {
      if (/^\d+$/.test(part)) return Number(part);
      const name = expression.split('*')[index]?.trim() ?? '';
      return constantOf(source, name);
    })
    .reduce((product, factor) => product * factor, 1);
}

function constantOf(source: string, name: string): number {
  const [object, member] = name.split('.');
  const scope =
    member === undefined
      ? source
      : (new RegExp(`const ${object}\\b[^=]*= \\{([^}]*)\\}`).exec(source)?.[1] ?? '');
  const pattern = member === undefined ? `const ${name}\\b[^=\n]*= ([^;]+);` : `\\b${member}: ([^,}]+)`;
  const expression = new RegExp(pattern).exec(scope)?.[1];
  if (expression === undefined) throw new Error(`there is no ${name}`);
  return evaluate(source, expression);
}

const rows = text
  .slice(text.indexOf('## Budgets'))
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2);

describe('budgets', () => {
  test.each(rows)('%s', (line) => {
    const { budget = '', name = '', file = '' } = ROW.exec(line)?.groups ?? {};
    expect(constantOf(readFileSync(`${root}/${file}`, 'utf8'), name)).toBe(budgetOf(budget, name));
  });

  test('there are some, and one that is wrong is found', () => {
    expect(rows.length).toBeGreaterThan(20);
    expect(constantOf('const KIB = 1024;\nexport const A: L = { b: 2 * KIB, c: 1_000 };', 'A.b')).toBe(2_048);
    expect(constantOf('const KIB = 1024;\nexport const A: L = { b: 2 * KIB, c: 1_000 };', 'A.c')).toBe(1_000);
    expect(() => constantOf('const A = 1;', 'B')).toThrow('there is no B');
    expect(budgetOf('5 min', 'TOLERANCE_SECONDS')).toBe(300);
  });
});

test('every file that it names is there', () => {
  const named = [...text.matchAll(/`((?:tests|libs|services|tools)\/[\w./-]+)`/g)].map((match) => match[1]);
  expect(named.filter((path) => !existsSync(`${root}/${path}`))).toEqual([]);
});
