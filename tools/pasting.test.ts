// Every block of shell in the docs can be pasted at a prompt, of bash and of zsh.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../services/payments/src/config.ts';
import { paymentsDocs } from '../services/payments/src/guides/site.ts';
import { faultsOfPasting } from './pasting.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n');
const matches = (pattern: string) => files.some((file) => matchesGlob(file, pattern));

const faults = (text: string) => faultsOfPasting(text, matches);

// Pages below `test/` are there to be drawn, and not to be read.
const pages = files.filter((file) => file.endsWith('.md') && !file.includes('/test/'));
const blocks = pages.flatMap((page) =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^```(?:sh|bash|shell|zsh)\b.*\n([\s\S]*?)^```/gm)].map(
    ([, text = '']) => ({ page, text }),
  ),
);

test('every block of the docs can be pasted', () => {
  expect(blocks.length).toBeGreaterThan(50);
  expect(blocks.flatMap(({ page, text }) => faults(text).map((fault) => `${page}: ${fault}`))).toEqual([]);
});

test('so can every sample of the reference', () => {
  const samples = [...(paymentsDocs(loadConfig({})).samples ?? new Map()).values()]
    .flat()
    .filter(({ label }) => label === 'curl');
  expect(samples.length).toBeGreaterThan(20);
  expect(samples.flatMap(({ source }) => faults(source))).toEqual([]);
});

/** Each was pasted into zsh 5.9, which refused it or did something else; of the last, bash does the same. */
const refused: readonly (readonly [string, string, RegExp])[] = [
  ['a comment behind a command', 'npm start     # both products', /^#: .*no comments/],
  ['a comment on a line of its own', 'npm test\n# and then\nnpm start', /^#: .*no comments/],
  ['a query', 'curl http://localhost:4000/v1/payments?limit=1', /limit=1: .*pattern/],
  ['a list', 'pip install payments-api[dev]', /pattern/],
  ['a star in an option', 'pg_dump --exclude-table=*.logs', /pattern/],
  ['what the history knows', 'curl -d "{ \\"text\\": \\"Hello!you\\" }"', /history/],
  ['a place for words', 'git clone <repository> /opt', /^<repository>: .*variable/],
  ['one within a word', 'cd /opt/payments-<new version>', /variable/],
  ['an equals sign', 'test "$A" == yes', /^==: .*quote/],
  ['a modifier', 'curl "http://$HOST:api/"', /braces/],
  ['a variable of the shell', 'path=/v1/payments', /variable of that name/],
  ['one behind another', 'A=1 status=200', /variable of that name/],
  ['a question that nobody sees', 'SECRET="$(npx --package some-package some)"', /add --yes/],
];
test.each(refused)('%s is found', (_what, text, says) => {
  expect(faults(text)).toEqual([expect.stringMatching(says)]);
});

describe('what a prompt takes as it stands', () => {
  test.each([
    ['curl -sS \'http://localhost:4000/v1/payments?limit=2&status=completed\' \\\n  -H "A: $B"'],
    ['curl "http://localhost:$PORT/readyz?a[]=$1" > out.json 2>&1'],
    ['cat > a.json <<\'BODY\'\n{ "a": [1] } # what?\nBODY\nwc -l a.json'],
    ['npm start &\nSERVER=$!\nkill $SERVER || echo $?'],
    ['for TRY in $(seq 30); do if [ "$TRY" = 3 ]; then break; fi; done'],
    ['node -p "$(node -p \'require("./a.json").data[0].id\')"'],
    ['cp deploy/systemd/*.service /etc/systemd/system/'],
    ["KEY=$(printf '%s' \"$SECRET\" | tr -d ' \\n')"],
    ['curl -d \'{ "text": "Hello!you" }\' http://localhost:4000/#top'],
  ])('%s', (text) => {
    expect(faults(text)).toEqual([]);
  });
});
