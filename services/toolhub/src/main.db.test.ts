// The process as an operator meets it: bad settings, the embedded database, what it prints, how it stops.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, watchPackages } from '@libs/runtime/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToolhubDatabase, startInstance } from '../test/instance.ts';
import { CALL_LONGEST_MS } from './calls/call-times.ts';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolhub-main-'));
});

/** What a test that failed half-way left running would write into the folder while it is removed. */
const started: { child: ChildProcess; exited: Promise<unknown> }[] = [];

afterAll(async () => {
  for (const { child } of started) child.kill('SIGTERM');
  await Promise.all(started.map(({ exited }) => exited));
  await rm(folder, { recursive: true, force: true });
});

function start(env: Record<string, string>) {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      DATA_DIR: folder,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output.stderr += chunk;
  });
  const exited = once(child, 'exit').then(([code]) => code as number);
  started.push({ child, exited });
  return { child, output, exited };
}

function post(address: string, email: string): Promise<Response> {
  const name = address.endsWith('/signup') ? { name: 'X' } : {};
  return fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: 'correct horse battery', ...name }),
  });
}

test('[TH-1.2] bad settings stop the start with one line that names every one of them', async () => {
  const { output, exited } = start({
    TOOLHUB_PORT: 'x',
    TOOLHUB_RATE: '-3',
    TOOLHUB_ENCRYPTION_KEY: 'short',
    TOOLHUB_CONNECTOR_SLACK_URL: 'x',
  });
  expect(await exited).toBe(1);
  expect(output.stderr.trim().split('\n')).toHaveLength(1);
  for (const name of [
    'TOOLHUB_PORT',
    'TOOLHUB_RATE',
    'TOOLHUB_ENCRYPTION_KEY',
    'TOOLHUB_CONNECTOR_SLACK_URL',
  ])
    expect(output.stderr).toContain(name);
});

test('[TH-1] a database that cannot be reached is one line, too', async () => {
  const { output, exited } = start({ DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/db' });
  expect(await exited).toBe(1);
  expect(output.stderr.trim().split('\n')).toHaveLength(1);
  expect(output.stderr).not.toContain('hunter2');
});

/** What many processes never need costs them neither memory nor time at their start. */
const LOADED_LATE = [
  ...['undici', 'imapflow', 'nodemailer', 'htmlparser2', 'pdfkit', '@node-rs/argon2'],
  ...['@simplewebauthn/server', '@scalar/fastify-api-reference'],
];

test('in production a key that opens nothing of what is stored stops the start, until the stored one is given up', async () => {
  const database = await createToolhubDatabase();
  const before = await startInstance(database.url);
  expect((await fetch(`${before.url}/oauth/connect-mcp`, { redirect: 'manual' })).status).toBe(302);
  await before.stop();
  const settings = {
    NODE_ENV: 'production',
    TOOLHUB_DATABASE_URL: database.url,
    TOOLHUB_PORT: String(await freePort()),
    TOOLHUB_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  };
  const wrong = start(settings);
  expect(await wrong.exited).toBe(1);
  expect(wrong.output.stderr.trim().split('\n')).toHaveLength(1);
  expect(wrong.output.stderr).toContain('TOOLHUB_ENCRYPTION_KEY opens nothing of what is stored');
  const [, lost = ''] = /TOOLHUB_LOST_ENCRYPTION_KEYS=(\w{8}) /.exec(wrong.output.stderr) ?? [];
  const packages = watchPackages(folder);
  const { child, output, exited } = start({
    ...settings,
    ...packages.env,
    TOOLHUB_LOST_ENCRYPTION_KEYS: lost,
  });
  await expect.poll(() => output.stdout, { timeout: 40_000 }).toContain('/mcp');
  const loaded = await packages.loaded();
  expect(loaded).toContain('fastify');
  expect(loaded.filter((name) => LOADED_LATE.includes(name))).toEqual([]);
  child.kill('SIGTERM');
  expect(await exited).toBe(0);
  // The longest call that it may have accepted is waited for.
  const [, drainMs] = /"reason":"SIGTERM","drain_ms":(\d+)/.exec(output.stdout) ?? [];
  expect(Number(drainMs)).toBeGreaterThan(CALL_LONGEST_MS);
  await database.drop();
}, 90_000);

test('[TH-1.5] alone it starts its own database, prints the admin token in development only, and drains on SIGTERM', async () => {
  const port = await freePort();
  const emails = Array.from({ length: 8 }, (_, index) => `customer-${index}@example.com`);
  const accepted: string[] = [];
  for (const [NODE_ENV, action] of [
    ['development', 'signup'],
    ['production', 'login'],
  ] as const) {
    const settings = { TOOLHUB_PORT: String(port), TOOLHUB_LOG_LEVEL: 'error', TOOLHUB_RATE_ADDRESS: '0' };
    const { child, output, exited } = start({ NODE_ENV, ...settings });
    const url = `http://localhost:${port}`;
    await expect
      .poll(async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status, { timeout: 40_000 })
      .toBe(200);
    // It is ready before it has said so, and its line may come later still.
    await expect.poll(() => output.stdout).toContain(`${url}/mcp`);
    expect(/tha_[A-Za-z0-9]{43}/.test(output.stdout)).toBe(NODE_ENV === 'development');
    // Hashing takes a while, so some are under way when the signal comes: each is answered, and what was accepted is kept.
    await Promise.all(emails.map(async () => (await fetch(`${url}/healthz`)).text()));
    const answers = emails.map(async (email) => (await post(`${url}/api/auth/${action}`, email)).status);
    await Promise.race(answers);
    child.kill('SIGTERM');
    const statuses = await Promise.all(answers);
    if (action === 'signup') accepted.push(...emails.filter((_email, index) => statuses[index] === 201));
    else
      expect(statuses).toEqual(
        emails.map((email) => expect.toBeOneOf(accepted.includes(email) ? [200, 503] : [401, 503])),
      );
    expect(statuses.every((status) => [200, 201, 401, 503].includes(status))).toBe(true);
    expect(await exited).toBe(0);
    expect(output.stderr).toBe('');
  }
}, 90_000);
