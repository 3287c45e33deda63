// The rules of the house, as a test: dependency directions, where SQL and settings live, names.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { checkFile } from './tidy.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const LONGEST_SHOWN = 8;

function tracked(...patterns: string[]): string[] {
  const listed = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...patterns],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  return listed.split('\n').filter((path) => path !== '' && existsSync(join(root, path)));
}

const sources = tracked('*.ts', '*.tsx').map((path) => ({
  path,
  text: readFileSync(join(root, path), 'utf8'),
}));

test('every source file keeps the rules of the house', () => {
  const faults = sources.filter(({ path }) => path !== 'tools/tidy.test.ts').flatMap(checkFile);
  expect(faults.map(({ file, line, message }) => `${file}:${line} ${message}`)).toEqual([]);
});

test('the longest files are shown, so that someone asks whether two things live in one room', () => {
  const longest = sources
    .map(({ path, text }) => ({ path, lines: text.split('\n').length }))
    .sort((a, b) => b.lines - a.lines)
    .slice(0, LONGEST_SHOWN);
  console.log(longest.map(({ path, lines }) => `${String(lines).padStart(6)} ${path}`).join('\n'));
  expect(longest.length).toBeGreaterThan(0);
});

test('every Markdown page has exactly one title', () => {
  const wrong = tracked('*.md').filter((path) => {
    const prose = readFileSync(join(root, path), 'utf8').replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, '');
    return prose.split('\n').filter((line) => /^# /.test(line)).length !== 1;
  });
  expect(wrong).toEqual([]);
});

test('dependencies are pinned exactly, and the lock file names no host', () => {
  const loose = tracked('package.json', '*/package.json').flatMap((path) => {
    const manifest = JSON.parse(readFileSync(join(root, path), 'utf8')) as Record<
      string,
      Record<string, string>
    >;
    return ['dependencies', 'devDependencies', 'overrides'].flatMap((kind) =>
      Object.entries(manifest[kind] ?? {})
        .filter(([name, version]) => !name.startsWith('@libs/') && !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
        .map(([name, version]) => `${path}: ${name} ${version}`),
    );
  });
  expect(loose).toEqual([]);
  expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).not.toMatch(/"resolved": *"https?:/);
});

describe('the rules find what they are for', () => {
  const cases: [string, string, string, RegExp][] = [
    [
      'service to service',
      'services/payments/src/a.ts',
      `import { x } from '../../toolhub/src/b.ts';`,
      /no other service/,
    ],
    [
      'library to service',
      'libs/db/src/a.ts',
      `import type { X } from '@services/payments';`,
      /imports no service/,
    ],
    ['driver outside libs/db', 'services/payments/src/a/store.ts', `import pg from 'pg';`, /only libs\/db/],
    [
      'SQL outside a store',
      'services/payments/src/a/service.ts',
      'const q = `select id from t`;',
      /store\.ts/,
    ],
    [
      "another feature's store",
      'services/payments/src/a/service.ts',
      `import { find } from '../b/store.ts';`,
      /is private/,
    ],
    ['environment', 'services/payments/src/a/service.ts', 'const x = process.env.X;', /config\.ts/],
    ['HTTP in the domain', 'services/payments/src/a/service.ts', `import fastify from 'fastify';`, /no HTTP/],
    ['empty names', 'services/payments/src/utils.ts', '', /say nothing/],
    ['leftovers', 'services/payments/src/a.ts', `// ${'TO'}DO later`, /finish it/],
    ['focused tests', 'services/payments/src/a.test.ts', `test${'.only'}('x', () => {});`, /finish it/],
  ];
  test.each(cases)('%s', (_name, path, text, message) => {
    expect(checkFile({ path, text }).map((fault) => fault.message)).toEqual([expect.stringMatching(message)]);
  });

  test('what is allowed passes', () => {
    const text = `import type { Row } from '../b/store.ts';\nimport { find } from './store.ts';\n// we select a rail`;
    expect(checkFile({ path: 'services/payments/src/a/service.ts', text })).toEqual([]);
  });
});
