// A rail is one folder and one line: both are added to a copy of the service, and the copy is run as it is.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { freePort } from '@libs/runtime/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

const SLOW_MACHINE_MS = 60_000;
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const service = join(root, 'services/payments');
const LINE = "export const OUTSIDE_RAIL_IDS = ['rtp', 'ach'] as const;";

let testDatabase: TestDatabase;
let folder: string;
let child: ChildProcess;
let url: string;

const POLL_MS = 200;

async function untilReady(): Promise<void> {
  const end = Date.now() + SLOW_MACHINE_MS;
  while (Date.now() < end) {
    const status = await fetch(`${url}/readyz`).then(
      (response) => response.status,
      () => 0,
    );
    if (status === 200) return;
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
  throw new Error('the copy of the service does not start');
}

/** The service as it is, in another place, with the libraries of this one. */
async function copyService(): Promise<string> {
  const copy = join(folder, 'services/payments');
  await mkdir(copy, { recursive: true });
  for (const part of ['src', 'docs', 'migrations', 'package.json'])
    await cp(join(service, part), join(copy, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return copy;
}

async function addRail(copy: string): Promise<void> {
  const rails = join(copy, 'src/rails');
  const text = await readFile(join(service, 'src/rails/test/pigeon/rail.ts'), 'utf8');
  await mkdir(join(rails, 'pigeon'));
  // The folder lies elsewhere among the tests: only the way to its neighbours differs.
  await writeFile(join(rails, 'pigeon/rail.ts'), text.replaceAll("'../../", "'../"));
  const list = await readFile(join(rails, 'rail-ids.ts'), 'utf8');
  expect(list.split(LINE)).toHaveLength(2);
  await writeFile(join(rails, 'rail-ids.ts'), list.replace(LINE, LINE.replace("'ach'", "'ach', 'pigeon'")));
}

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'payments-rail-'));
  const copy = await copyService();
  await addRail(copy);
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(PAYMENTS_|DATABASE_URL|DATA_DIR|NODE_ENV)/.test(name)),
  );
  const env = { ...inherited, DATABASE_URL: testDatabase.url, DATA_DIR: folder, PAYMENTS_PORT: String(port) };
  child = spawn(process.execPath, [join(copy, 'src/main.ts')], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await untilReady();
}, 2 * SLOW_MACHINE_MS);

afterAll(async () => {
  if (child?.exitCode === null) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await testDatabase.drop();
  await rm(folder, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked into freely by the tests.
async function call(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }> {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: 'Bearer sk_test_sandbox',
      'content-type': 'application/json',
      ...(method === 'POST' ? { 'idempotency-key': crypto.randomUUID() } : {}),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

const payment = (changes: object) => ({
  amount: 10_00,
  currency: 'USD',
  source: { payment_method_id: 'pm_alice' },
  destination: { payment_method_id: 'pm_bob' },
  ...changes,
});

const statusOf = async (id: string) => (await call('GET', `/v1/payments/${id}`)).body.status;

test('a payment that asks for it goes by it, from end to end', { timeout: SLOW_MACHINE_MS }, async () => {
  const { status, body } = await call('POST', '/v1/payments', payment({ rail: 'pigeon' }));
  expect({ status, rail: body.rail, selected: body.rail_selected, fee: body.fee.amount }).toEqual({
    status: 202,
    rail: 'pigeon',
    selected: 'pigeon',
    fee: 7,
  });
  await expect.poll(() => statusOf(body.id)).toBe('completed');
  const messages = await call('GET', `/v1/payments/${body.id}/messages`);
  expect(messages.body.data).toMatchObject([
    { rail: 'pigeon', kind: 'letter', content: 'Pay 1000 to pm_bob' },
  ]);
  expect((await call('GET', '/v1/payments?rail=pigeon')).body.data).toHaveLength(1);
  expect((await call('GET', '/v1/ledger/check')).body.ok).toBe(true);
});

test('it is one of the candidates, with its limit and its price', { timeout: SLOW_MACHINE_MS }, async () => {
  const quote = (changes: object) => call('POST', '/v1/payments/quote', payment(changes));
  const cheap = await quote({ routing: { prefer: 'cost' } });
  expect(cheap.body).toMatchObject({ rail_selected: 'pigeon', fee: { amount: 7 } });
  const large = await quote({ amount: 500_01 });
  const candidate = large.body.rail_decision.candidates.find(
    ({ rail }: { rail: string }) => rail === 'pigeon',
  );
  expect(candidate).toMatchObject({ possible: false, reasons: ['amount_over_limit'] });
});

test('the sandbox forces its outcomes, and none that it does not know', {
  timeout: SLOW_MACHINE_MS,
}, async () => {
  await call('POST', '/v1/sandbox/clock', { advance: 'PT0S' });
  const { id } = (await call('POST', '/v1/payments', payment({ rail: 'pigeon' }))).body;
  await expect.poll(() => statusOf(id)).toBe('completed');
  expect((await call('POST', `/v1/sandbox/payments/${id}/return`, { code: 'R01' })).status).toBe(409);
});
