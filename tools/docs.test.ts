// What the docs say is so: pages have a shape, and every file they name is there.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { rules } from './tidy/rules.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const ARCHITECTURE_LINES_MAX = 250;

const tracked = (pattern: string) =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', pattern], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((path) => path !== '' && existsSync(join(root, path)));

const pages = tracked('*.md').map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
const files = tracked('*');

test('every page has exactly one title', () => {
  const wrong = pages.filter(({ text }) => {
    const prose = text.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, '');
    return prose.split('\n').filter((line) => /^# /.test(line)).length !== 1;
  });
  expect(wrong.map(({ path }) => path)).toEqual([]);
});

test('ARCHITECTURE.md stays short enough to be read', () => {
  const { length } = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').split('\n');
  expect(length).toBeLessThanOrEqual(ARCHITECTURE_LINES_MAX);
});

test('CONTRIBUTING.md states every rule that the tidy test holds', () => {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  expect(rules.map(({ says }) => says).filter((says) => !text.includes(`- ${says}\n`))).toEqual([]);
});

test('every feature has a page', () => {
  const features = new Set(
    files.flatMap((file) => /^(services\/[^/]+\/src\/[^/]+)\/.*\.ts$/.exec(file)?.[1] ?? []),
  );
  expect([...features].filter((feature) => !files.includes(`${feature}/README.md`))).toEqual([]);
});

/** `payments/states.ts` names a file by the end of its path, from the root or from the page's own folder. */
function exists(name: string, page: string): boolean {
  return existsSync(join(root, dirname(page), name)) || files.some((file) => `/${file}`.endsWith(`/${name}`));
}

test('every file that a page names is there', () => {
  const missing = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/`((?:[\w.@-]+\/)*[\w.-]+\.(?:ts|tsx|mjs|sql|md))`/g)]
      .map((match) => match[1] as string)
      // A number and what it does: the pattern of a migration's name, not one of them.
      .filter((name) => !/^\d{4}_what/.test(name) && !exists(name, path))
      .map((name) => `${path}: ${name}`),
  );
  expect(missing).toEqual([]);
});

/** Links that begin with a slash are addresses of the running service: the tests of the guides follow those. */
test('every link of a page leads somewhere', () => {
  const broken = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?!https?:|#|mailto:|\/)([^)#\s]+)/g)]
      .map((match) => match[1] as string)
      .filter((link) => !existsSync(join(root, dirname(path), link)))
      .map((link) => `${path}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test('the walks of ARCHITECTURE.md visit files that exist, none twice', () => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const walks = text.split(/\(paths below `/).slice(1);
  expect(walks).toHaveLength(2);
  for (const walk of walks) {
    const base = walk.slice(0, walk.indexOf('`'));
    const steps = [...(walk.split('\n## ')[0] as string).matchAll(/^\d+\. `([^`]+)`: .+\.$/gm)];
    const visited = steps.map(([, step = '']) => (step.startsWith('libs/') ? step : `${base}/${step}`));
    expect(visited.length).toBeGreaterThan(10);
    expect(visited.filter((path) => !files.includes(path))).toEqual([]);
    expect(new Set(visited).size).toBe(visited.length);
  }
});
