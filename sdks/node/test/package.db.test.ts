// As a user gets it: packed, installed in a bare folder, used from ES modules, CommonJS and TypeScript, on each Node.
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../tests/contract/payments/harness.ts';
import { nodeBinary, packedNodeSdk, root } from '../../test/packed.ts';
import { VERSION } from '../src/index.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'bare-'));
let harness: Harness;
let apiKey: string;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const journey = `
const client = new Payments({ apiKey: process.env.KEY, baseUrl: process.env.URL });
const body = {
  amount: 2500, currency: 'USD', rail: 'rtp',
  source: { payment_method_id: 'pm_alice' }, destination: { payment_method_id: 'pm_bob' },
};
const { id } = await client.payments.create(body);
const payment = await client.payments.waitFor(id, 'completed', { timeoutMs: 30000 });
const found = [];
for await (const one of client.payments.list({ status: 'completed', limit: 1 })) { found.push(one.id); break; }
const refusal = await client.payments.create({ ...body, amount: -1 }).catch((error) => error);
const secret = 'whsec_' + Buffer.alloc(32, 1).toString('base64');
const text = JSON.stringify({ id: 'evt_1', type: 'payment.completed' });
const event = client.webhooks.verify(text, client.webhooks.sign(text, secret), secret);
console.log(JSON.stringify({
  status: payment.status, found: found.length, typed: refusal instanceof InvalidRequestError,
  pointer: refusal.errors[0].pointer, type: event.type, node: process.versions.node.split('.')[0],
}));
`;

beforeAll(async () => {
  harness = await startHarness({ env: { PAYMENTS_SANDBOX_RTP_MS: '0' } });
  apiKey = (await harness.organisation()).test;
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const quiet = ['--offline', '--no-audit', '--no-fund', '--silent'];
  await run('npm', ['install', ...quiet, await packedNodeSdk()], { cwd: folder });
  writeFileSync(
    join(folder, 'journey.mjs'),
    `import { InvalidRequestError, Payments } from 'payments-api';\n${journey}`,
  );
  writeFileSync(
    join(folder, 'journey.cjs'),
    `const { InvalidRequestError, Payments } = require('payments-api');\n(async () => {${journey}})();`,
  );
}, 180_000);
afterAll(async () => {
  await harness?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.each([
  ['18', '18.20.8'],
  ['20', '20.20.2'],
  ['24', undefined],
])('on Node %s', (major, version) => {
  test.each(['journey.mjs', 'journey.cjs'])('%s', { timeout: 120_000 }, async (script) => {
    const node = version === undefined ? process.execPath : await nodeBinary(version);
    const { stdout, stderr } = await run(node, [script], {
      cwd: folder,
      env: { PATH: process.env.PATH, KEY: apiKey, URL: harness.url },
    });
    expect(JSON.parse(stdout)).toEqual({
      status: 'completed',
      found: 1,
      typed: true,
      pointer: '/amount',
      type: 'payment.completed',
      node: major,
    });
    expect(stderr).toBe('');
  });
});

test.each([
  ['18.0', '18.0.0'],
  ['18', '18.20.8'],
  ['20', '20.20.2'],
  ['24', undefined],
])('the command line on Node %s', { timeout: 120_000 }, async (_name, version) => {
  const node = version === undefined ? process.execPath : await nodeBinary(version);
  const program = join(folder, 'node_modules', '.bin', 'payments');
  const env = { PATH: process.env.PATH, PAYMENTS_API_KEY: apiKey, PAYMENTS_API_URL: harness.url };
  const { stdout } = await run(node, [program, 'sandbox', 'clock', '--json'], { cwd: folder, env });
  expect(JSON.parse(stdout)).toMatchObject({ object: 'sandbox_clock', state: 'real' });
});

test('the README, from its first block to its last', { timeout: 120_000 }, async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const receiverPort = await freePort();
  const blocks = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(([, language, text]) => ({
    language,
    text: (text as string)
      .replaceAll('http://localhost:4000', harness.url)
      .replaceAll('localhost:3000', `localhost:${receiverPort}`)
      .replaceAll('listen(3000)', `listen(${receiverPort})`),
  }));
  const find = (sign: string) => blocks.find(({ text }) => text.includes(sign))?.text as string;
  const env = { PATH: process.env.PATH, XDG_CONFIG_HOME: join(folder, 'config'), HOME: folder };

  writeFileSync(join(folder, 'first.mjs'), find('first.mjs'));
  const first = await run(process.execPath, ['first.mjs'], { cwd: folder, env });
  expect(first.stdout).toMatch(/^pay_\w+ pending (rtp|ach)/);
  expect(first.stdout).toContain('completed');

  writeFileSync(join(folder, 'receiver.mjs'), find('receiver.mjs'));
  const listening = spawn('bash', ['-c', find('listen --forward-to')], { cwd: folder, env, detached: true });
  let said = '';
  for (const stream of [listening.stdout, listening.stderr]) stream.on('data', (chunk) => (said += chunk));
  try {
    await expect.poll(() => said).toContain('Connected.');
    const made = await run('bash', ['-c', find('payments create')], { cwd: folder, env });
    const id = /pay_\w+/.exec(made.stdout)?.[0] as string;
    await expect.poll(() => said).toContain(`payment.completed ${id}`);
    expect(said).toMatch(/→ 204 in/);
  } finally {
    process.kill(-(listening.pid as number), 'SIGTERM');
  }
});

test('types hold for a strict user, from ES modules and from CommonJS, and refuse what is wrong', async () => {
  const good = `
    const client = new Payments({ apiKey: 'sk_test_x' });
    export async function pay(): Promise<string> {
      const payment: Payment = await client.payments.create({
        amount: 1, currency: 'USD', source: { payment_method_id: 'a' }, destination: { payment_method_id: 'b' },
      }, { idempotencyKey: 'k' });
      for await (const one of client.payments.list({ status: 'failed' })) console.log(one.failure?.code);
      // What is undefined was not given.
      const maybe: string | undefined = process.env.MAYBE;
      await client.payments.refund(payment.id, { amount: undefined, description: maybe });
      await client.payments.list({ status: undefined, limit: undefined, payment_method: maybe }).page();
      await client.payments.waitFor(payment.id, 'completed', { timeoutMs: undefined, signal: undefined });
      const event = client.webhooks.verify('', {}, 's');
      if (event.type === 'payment.completed') console.log(event.data.rail_selected);
      return payment.status satisfies 'pending' | 'processing' | 'completed' | 'failed' | 'canceled' | 'returned';
    }
    // @ts-expect-error there is no such status
    client.payments.list({ status: 'done' });
    // @ts-expect-error the amount is missing
    client.payments.create({ currency: 'USD', source: { payment_method_id: 'a' }, destination: { payment_method_id: 'b' } });
    // @ts-expect-error fields keep their names of the wire
    client.paymentMethods.create({ type: 'balance', metaData: {} });
  `;
  const names = `import { Payments, type Payment } from 'payments-api';`;
  for (const [name, text] of [
    ['user.mts', names + good],
    ['user.cts', names + good],
  ] as const) {
    writeFileSync(join(folder, name), text);
  }
  mkdirSync(join(folder, 'node_modules', '@types'), { recursive: true });
  symlinkSync(join(root, 'node_modules', '@types', 'node'), join(folder, 'node_modules', '@types', 'node'));
  symlinkSync(join(root, 'node_modules', 'undici-types'), join(folder, 'node_modules', 'undici-types'));
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
  const options = [...strict, '--noEmit', '--target', 'es2022', '--module', 'nodenext', '--types', 'node'];
  const checked = await run(join(root, 'node_modules', '.bin', 'tsc'), [...options, 'user.mts', 'user.cts'], {
    cwd: folder,
  }).catch((error) => error);
  expect(checked.stdout).toBe('');
});

test('the package has no dependencies, its licence, its notes, and nothing of the sources or tests', async () => {
  const installed = join(folder, 'node_modules', 'payments-api');
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(manifest).not.toHaveProperty('dependencies');
  expect(manifest).toMatchObject({
    version: VERSION,
    license: 'Apache-2.0',
    bin: { payments: expect.any(String) },
  });
  const { stdout } = await run('tar', ['-tzf', await packedNodeSdk()]);
  const files = stdout.trim().split('\n');
  for (const name of ['README.md', 'LICENSE', 'CHANGELOG.md']) expect(files).toContain(`package/${name}`);
  expect(files.filter((name) => /test|src\//.test(name))).toEqual([]);
});
