import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { listenSecret, readPosition, writePosition } from '../src/cli/settings-file.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'settings-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PROCESSES = 4;
const POSITIONS = 20;

/** Each begins when all have come, asks for the secret, and then writes its own positions. */
const program = `
import { readdirSync, writeFileSync } from 'node:fs';
import { listenSecret, writePosition } from ${JSON.stringify(join(import.meta.dirname, '../src/cli/settings-file.ts'))};
const [meeting, name] = process.argv.slice(1);
writeFileSync(meeting + '/' + name, '');
while (readdirSync(meeting).length < ${PROCESSES});
console.log(listenSecret(process.env));
for (let at = 1; at <= ${POSITIONS}; at += 1) writePosition(process.env, name, 'evt_' + at);
`;

test('commands that run beside each other have one secret, and none undoes what another keeps', async () => {
  const env = { PAYMENTS_CONFIG: join(folder, 'beside', 'config.json') };
  const meeting = join(folder, 'meeting');
  mkdirSync(meeting);
  const names = Array.from({ length: PROCESSES }, (_one, index) => `listener${index}`);
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', program, meeting];
  const told = await Promise.all(
    names.map((name) => run(process.execPath, [...flags, name], { env: { ...process.env, ...env } })),
  );
  expect(new Set(told.map(({ stdout }) => stdout))).toEqual(new Set([`${listenSecret(env)}\n`]));
  expect(names.map((name) => readPosition(env, name))).toEqual(names.map(() => `evt_${POSITIONS}`));
  expect(readdirSync(dirname(env.PAYMENTS_CONFIG))).toEqual(['config.json']);
});

test('a lock that a killed command left holds up nobody for long', () => {
  const env = { PAYMENTS_CONFIG: join(folder, 'killed', 'config.json') };
  const lock = `${env.PAYMENTS_CONFIG}.lock`;
  mkdirSync(lock, { recursive: true });
  utimesSync(lock, new Date(0), new Date(0));
  writePosition(env, 'one', 'evt_1');
  expect(JSON.parse(readFileSync(env.PAYMENTS_CONFIG, 'utf8'))).toEqual({
    listen_positions: { one: 'evt_1' },
  });
  expect(readdirSync(dirname(lock))).toEqual(['config.json']);
});
