// The rules of the house, held against every file; `tidy/rules.test.ts` plants an example of each.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readCodebase } from './tidy/codebase.ts';
import { rules } from './tidy/rules.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const LONGEST_SHOWN = 8;
/** Its text is full of planted faults. */
const PLANTED = 'tools/tidy/rules.test.ts';

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

const read = (path: string) => readFileSync(join(root, path), 'utf8');

const sources = tracked('*.ts', '*.tsx', '*/migrations/*.sql')
  .filter((path) => path !== PLANTED)
  .map((path) => ({ path, text: read(path) }));

function packageEntries(): Map<string, string> {
  const entries = new Map<string, string>();
  for (const path of tracked('libs/*/package.json')) {
    const { name, exports = {} } = JSON.parse(read(path)) as {
      name: string;
      exports?: Record<string, string>;
    };
    for (const [entry, file] of Object.entries(exports))
      entries.set(posix.join(name, entry), posix.join(dirname(path), file));
  }
  return entries;
}

describe('every source file keeps the rules of the house', () => {
  const codebase = readCodebase(sources, packageEntries());
  test.each(rules.map((rule) => [rule.says, rule] as const))('%s', (_says, rule) => {
    const faults = rule.check(codebase);
    expect(faults.map(({ file, line, message }) => `${file}:${line} ${message}`)).toEqual([]);
  });
});

test('the longest files are shown, so that someone asks whether two things live in one room', () => {
  const longest = sources
    .map(({ path, text }) => ({ path, lines: text.split('\n').length }))
    .sort((a, b) => b.lines - a.lines)
    .slice(0, LONGEST_SHOWN);
  console.log(longest.map(({ path, lines }) => `${String(lines).padStart(6)} ${path}`).join('\n'));
  expect(longest.length).toBeGreaterThan(0);
});

test('dependencies are pinned exactly, and the lock file names no host', () => {
  const loose = tracked('package.json', '*/package.json').flatMap((path) => {
    const manifest = JSON.parse(read(path)) as Record<string, Record<string, string>>;
    return ['dependencies', 'devDependencies', 'overrides'].flatMap((kind) =>
      Object.entries(manifest[kind] ?? {})
        .filter(([name, version]) => !name.startsWith('@libs/') && !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
        .map(([name, version]) => `${path}: ${name} ${version}`),
    );
  });
  expect(loose).toEqual([]);
  expect(read('package-lock.json')).not.toMatch(/"resolved": *"https?:/);
});
