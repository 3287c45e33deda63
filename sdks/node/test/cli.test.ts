// The command line as a program of its own: what it prints, what it keeps, how it ends.
import { execFile, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, expect, test } from 'vitest';
import { type Ended, runCommand } from './run-command.ts';
import { type Answer, json, problem, startScriptedServer, text } from './scripted-server.ts';

const program = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'payments-cli-'));
const config = join(home, 'payments', 'config.json');
const KEY = 'sk_test_the_secret_of_this_test';
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  rmSync(join(home, 'payments'), { recursive: true, force: true });
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const environment = (more: Record<string, string> = {}) => ({
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  XDG_CONFIG_HOME: home,
  ...more,
});

function payments(
  words: string[],
  more: { env?: Record<string, string>; input?: string } = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--no-warnings', program, ...words],
      { env: environment({ PAYMENTS_API_KEY: KEY, ...more.env }) },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
    child.stdin?.end(more.input ?? '');
  });
}

/** The same within this process. */
const inProcess = (words: string[], more: { env?: Record<string, string>; input?: string } = {}) =>
  runCommand(words, { env: environment({ PAYMENTS_API_KEY: KEY, ...more.env }), input: more.input });

async function serve(...answers: [Answer, ...Answer[]]) {
  const server = await startScriptedServer(...answers);
  closers.push(server.close);
  return { ...server, env: { PAYMENTS_API_URL: server.url } };
}

const payment = {
  id: 'pay_1',
  status: 'completed',
  amount: 2500,
  currency: 'USD',
  source: { payment_method_id: 'pm_alice' },
  destination: { payment_method_id: 'pm_bob' },
  rail_selected: 'rtp',
  fee: { amount: 45, currency: 'USD' },
  failure: null,
  description: 'evil \u001b[31m text',
  estimated_settlement_at: 't2',
  created_at: 't1',
  timeline: [
    { status: 'pending', timestamp: 't1' },
    { status: 'processing', timestamp: 't2' },
    { status: 'completed', timestamp: 't3' },
  ],
};
const list = { object: 'list', data: [payment], next_cursor: 'c1' };

test('login keeps the key in a file that only its owner may read, and tries it first', async () => {
  const { url, seen } = await serve(json(200, list), problem(401, 'unauthorized'));
  const done = await payments(['login', '--url', url], { input: `${KEY}\n`, env: { PAYMENTS_API_KEY: '' } });
  expect(done).toMatchObject({ code: 0, err: '' });
  expect(done.out).toBe(`Logged in, test mode. The key is kept in ${config}.\n`);
  expect(statSync(config).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, 'payments')).mode & 0o777).toBe(0o700);
  expect(JSON.parse(readFileSync(config, 'utf8'))).toEqual({ api_key: KEY, base_url: url });
  expect(seen[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  const refused = await payments(['login'], { input: 'sk_test_wrong', env: { PAYMENTS_API_KEY: '' } });
  expect(refused).toMatchObject({ code: 3, out: '' });
  expect(refused.err).toMatch(/^The key was refused[^\n]*\n$/);
  expect(JSON.parse(readFileSync(config, 'utf8')).api_key).toBe(KEY);
});

test.each([
  ['Ctrl-D', '\u0004'],
  ['Ctrl-C', '\u0003'],
  ['an empty line', '\r'],
])('%s where login asks for the key ends it with one line', async (_title, typed) => {
  const ended = await runCommand(['login'], { env: environment(), typed });
  expect(ended).toEqual({
    code: 2,
    out: '',
    err: 'API key (not shown while you type):\nNo key was given. See: payments --help\n',
  });
});

test('a key that is typed is kept for the address that was kept, also where the environment has an empty one', async () => {
  const { url, seen } = await serve(json(200, list));
  await inProcess(['login', '--url', url, '--key', KEY]);
  const env = environment({ PAYMENTS_API_URL: '' });
  expect(await runCommand(['login'], { env, typed: 'sk_test_another\r' })).toMatchObject({ code: 0 });
  expect(seen[1]?.headers.authorization).toBe('Bearer sk_test_another');
  expect(JSON.parse(readFileSync(config, 'utf8'))).toEqual({ api_key: 'sk_test_another', base_url: url });
});

test('an address that is empty by mistake is asked nothing, and no other instead', async () => {
  const { env, seen } = await serve(json(200, list));
  for (const words of [['login', '--key', KEY], ['list']]) {
    expect(await inProcess([...words, '--url', ''], { env })).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^The address of the server \(--url, .*\) is not a URL/),
    });
  }
  expect(seen).toEqual([]);
  expect(existsSync(config)).toBe(false);
});

test('what login kept is used, and a file that others may read is pointed out', async () => {
  const { url, seen } = await serve(json(200, list));
  await payments(['login', '--url', url, '--key', KEY], { env: { PAYMENTS_API_KEY: '' } });
  chmodSync(config, 0o644);
  const listed = await payments(['list'], { env: { PAYMENTS_API_KEY: '' } });
  expect(listed.code).toBe(0);
  expect(listed.err).toContain(`${config} can be read by others: chmod 600`);
  expect(seen[1]?.headers.authorization).toBe(`Bearer ${KEY}`);
});

test('a table for people, JSON for programs, and no control characters of strangers', async () => {
  const { env } = await serve(json(200, list), json(200, list), json(200, payment));
  const shown = await payments(['payments', 'list'], { env });
  expect(shown.out).toMatch(/^ID {5}STATUS {5}AMOUNT/);
  expect(shown.out).toContain('pay_1  completed  25.00 USD  rtp');
  expect(shown.err).toBe('There are more: --cursor c1\n');
  expect(JSON.parse((await payments(['payments', 'list', '--json'], { env })).out)).toEqual(list);
  const one = await payments(['get', 'pay_1'], { env });
  expect(one.out).toContain('evil  [31m text');
  expect(one.out).not.toContain('\u001b');
});

test('create sends what was typed, and watch ends by how the payment ended', async () => {
  const pending = { ...payment, status: 'pending', timeline: payment.timeline.slice(0, 1) };
  const failed = {
    ...payment,
    status: 'failed',
    failure: { code: 'account_closed', network_code: 'AC04', detail: 'The account is closed.' },
    timeline: [...payment.timeline.slice(0, 2), { status: 'failed', timestamp: 't3' }],
  };
  const { env, seen } = await serve(
    json(202, pending),
    json(200, pending),
    json(200, payment),
    json(200, failed),
  );
  const words = [
    'create',
    '--amount',
    '2500',
    '--source',
    'pm_alice',
    '--destination',
    'pm_bob',
    '--prefer',
    'speed',
  ];
  const more = ['--metadata', 'a=b=c', '--metadata', 'd=', '--idempotency-key', 'order-17', '--wait'];
  const made = await payments([...words, ...more], { env });
  expect(
    made.out
      .trim()
      .split('\n')
      .map((line) => line.split(/ +/)[1]),
  ).toEqual(['pending', 'processing', 'completed']);
  expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
    amount: 2500,
    currency: 'USD',
    source: { payment_method_id: 'pm_alice' },
    destination: { payment_method_id: 'pm_bob' },
    routing: { prefer: 'speed' },
    metadata: { a: 'b=c', d: '' },
  });
  expect(seen[0]?.headers['idempotency-key']).toBe('order-17');
  const watched = await payments(['payments', 'watch', 'pay_1'], { env });
  expect(watched).toMatchObject({ code: 6, err: 'Payment pay_1 is failed: The account is closed.\n' });
});

test('cancel and refund send what was typed, and show the payment that results', async () => {
  const canceled = { ...payment, status: 'canceled' };
  const refund = { ...payment, id: 'pay_2', amount: 500, refund_of: 'pay_1' };
  const accepted = { ...refund, status: 'pending', timeline: refund.timeline.slice(0, 1) };
  const { env, seen } = await serve(
    json(200, canceled),
    problem(409, 'payment_not_cancelable'),
    json(202, refund),
    json(202, accepted),
    json(200, refund),
  );
  expect((await inProcess(['cancel', 'pay_1'], { env })).out).toMatch(/status {7}canceled/);
  const late = await inProcess(['payments', 'cancel', 'pay_1'], { env });
  expect(late).toMatchObject({ code: 1, out: '' });
  expect(late.err).toContain('payment_not_cancelable');
  const part = ['refund', 'pay_1', '--amount', '500', '--description', 'Too much', '--metadata', 'a=b'];
  const shown = await inProcess([...part, '--idempotency-key', 'back-17'], { env });
  expect(shown.out).toMatch(/amount {7}5\.00 USD\n(.*\n)*refund of {4}pay_1\n/);
  const followed = await inProcess(['refund', 'pay_1', '--wait'], { env });
  expect(followed.out.trim().split('\n').at(-1)).toBe('t3  completed   pay_2');
  expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /v1/payments/pay_1/cancel',
    'POST /v1/payments/pay_1/cancel',
    'POST /v1/payments/pay_1/refunds',
    'POST /v1/payments/pay_1/refunds',
    'GET /v1/payments/pay_2',
  ]);
  expect(JSON.parse(seen[2]?.body ?? '')).toEqual({
    amount: 500,
    description: 'Too much',
    metadata: { a: 'b' },
  });
  expect(seen[2]?.headers['idempotency-key']).toBe('back-17');
  expect(JSON.parse(seen[3]?.body ?? '')).toEqual({});
});

test('whatever goes wrong is one line with an exit code of its own, without a stack or a secret', async () => {
  const { env } = await serve(
    problem(401, 'unauthorized'),
    problem(404, 'not_found'),
    text(200, '<html>not ours</html>'),
    problem(
      422,
      'invalid_request',
      {},
      { errors: [{ pointer: '/amount', code: 'x', detail: 'Too\nlarge.' }] },
    ),
  );
  const gone = await startScriptedServer(text(200, ''));
  await gone.close();
  writeFileSync(join(home, 'broken.json'), '{');
  writeFileSync(join(home, 'null.json'), 'null');
  const cases: [Ended, number, RegExp][] = [
    [await inProcess(['get', 'pay_1'], { env }), 3, /The key was refused/],
    [await inProcess(['get', 'pay_1'], { env }), 4, /Refused: not_found/],
    [await inProcess(['get', 'pay_1'], { env }), 5, /not JSON/],
    [await inProcess(['get', 'pay_1'], { env }), 1, /\/amount: Too large/],
    [await inProcess(['get', 'pay_1'], { env: { PAYMENTS_API_KEY: '' } }), 3, /payments login/],
    [await inProcess(['get', 'pay_1'], { env: { PAYMENTS_API_KEY: `${KEY} x` } }), 3, /payments login/],
    [
      await inProcess(['get', 'pay_1'], { env: { PAYMENTS_API_URL: 'nowhere' } }),
      2,
      /^The address of the server \(.*PAYMENTS_API_URL.*\) is not a URL/,
    ],
    [
      await inProcess(['list', '--url', 'https://user:pw@x'], {}),
      2,
      /^The address of the server .* must not contain a user name or password: the key goes in PAYMENTS_API_KEY/,
    ],
    [await inProcess(['listen'], { env: { PAYMENTS_API_KEY: 'sk_live_the_secret' } }), 3, /takes a test key/],
    [await inProcess(['listen', '--events', 'payment.complete'], { env }), 2, /no type "payment.complete"/],
    [
      await inProcess(['listen', '--events', 'payment.failed, '], { env }),
      2,
      /no type ""; there are payment/,
    ],
    [await inProcess(['get'], { env }), 2, /It is: payments get <payment>/],
    [await inProcess(['get', 'a', 'b'], { env }), 2, /It is:/],
    [await inProcess(['frobnicate'], { env }), 2, /There is no command/],
    [await inProcess(['sandbox'], { env }), 2, /needs one of: clock, fund/],
    [await inProcess(['create', '--amount', '1.5'], { env }), 2, /--amount must be a whole number/],
    [await inProcess(['create', '--amount', '1', '--source', 'a'], { env }), 2, /--destination is missing/],
    [await inProcess(['refund', 'a', '--idempotency-key='], { env }), 2, /^--idempotency-key must have 1/],
    [await inProcess(['refund', 'a', '--amount', '0'], { env }), 2, /--amount must be a whole number from 1/],
    [await inProcess(['cancel'], { env }), 2, /It is: payments cancel <payment>/],
    [await inProcess(['create', '--bogus'], { env }), 2, /Unknown option '--bogus'/],
    [await inProcess(['list', '--status', 'done'], { env }), 2, /--status must be one of pending/],
    [await inProcess(['list'], { env: { PAYMENTS_CONFIG: join(home, 'broken.json') } }), 1, /is not JSON/],
    [await inProcess(['list'], { env: { PAYMENTS_CONFIG: join(home, 'null.json') } }), 1, /is not JSON/],
    [await inProcess(['login'], { env: { PAYMENTS_API_KEY: '' }, input: '' }), 2, /No key was given/],
    [await inProcess(['get', 'pay_1', '--url', gone.url], {}), 5, /ECONNREFUSED.*Is the server running/],
  ];
  for (const [{ code, out, err }, expected, message] of cases) {
    expect(err).toMatch(message);
    expect(err.trimEnd()).not.toContain('\n');
    expect([code, out]).toEqual([expected, '']);
    expect(err).not.toMatch(/the_secret|\bat .*:\d+:\d+/);
  }
}, 60_000);

test('a program that npx found is named as its reader types it', async () => {
  const env = { npm_command: 'exec', PAYMENTS_API_URL: 'http://localhost:1' };
  const said = async (words: string[], more = {}) => {
    const { out, err } = await inProcess(words, { env: { ...env, ...more } });
    return out + err;
  };
  expect(await said(['frobnicate'])).toContain('See: npx payments --help');
  expect(await said(['get'])).toContain('It is: npx payments get <payment>. See: npx payments --help');
  expect(await said(['get', 'pay_1'], { PAYMENTS_API_KEY: '' })).toContain('run `npx payments login`');
  expect(await said(['create', '--help'])).toContain('Usage: npx payments create');
  expect(await said(['help', 'sandbox'])).toMatch(/^ {2}npx payments sandbox clock /);
  expect(await said([])).toContain('  npx payments login ');
  expect((await inProcess(['frobnicate'])).err).toContain('See: payments --help');
  const fetched = { npm_config_package: './payments-api-0.1.0.tgz' };
  expect(await said(['frobnicate'], fetched)).toContain(
    'See: npx --package ./payments-api-0.1.0.tgz payments --help',
  );
  expect(await said(['frobnicate'], { npm_config_package: '' })).toContain('See: npx payments --help');
});

test('completion offers the words that fit', async () => {
  const offered = async (...words: string[]) =>
    (await payments(['__complete', ...words])).out.trim().split('\n');
  expect(await offered()).toEqual(['login', 'listen', 'payments', 'events', 'sandbox', 'completion']);
  expect(await offered('sandbox')).toEqual(['clock', 'fund', 'settle', 'reject', 'return', 'reset']);
  expect(await offered('payments', 'create', '--rail')).toEqual(['auto', 'rtp', 'ach']);
  expect(await offered('list', '--status')).toContain('completed');
  for (const shell of ['bash', 'zsh', 'fish']) {
    expect((await inProcess(['completion', shell])).out).toContain('payments __complete');
  }
});

test('help is found in every way that people ask for it', async () => {
  const { out: create } = await inProcess(['create', '--help']);
  expect(create).toMatch(/^Create a payment\n\nUsage: payments create/);
  for (const words of [
    ['create', '-h'],
    ['payments', 'create', '-h'],
    ['help', 'create'],
  ]) {
    expect(await inProcess(words)).toEqual({ code: 0, out: create, err: '' });
  }
  for (const words of [
    ['sandbox', '--help'],
    ['sandbox', '-h'],
    ['help', 'sandbox'],
  ]) {
    const { code, out } = await inProcess(words);
    expect(code).toBe(0);
    expect(out).toMatch(/^ {2}payments sandbox clock .*\n {2}payments sandbox fund/);
    expect(out).not.toContain('payments login');
  }
  expect((await inProcess(['help'])).out).toBe((await inProcess([])).out);
  expect((await inProcess(['-v'])).out).toBe((await inProcess(['--version'])).out);
  expect((await inProcess(['help', 'frobnicate'])).code).toBe(2);
});

test('options of every command may stand before it', async () => {
  const { url } = await serve(json(200, list));
  expect(JSON.parse((await inProcess(['--json', '--url', url, 'list'])).out)).toEqual(list);
  expect(JSON.parse((await inProcess([`--url=${url}`, 'list', '--json'])).out)).toEqual(list);
  expect(await inProcess(['--url', url])).toMatchObject({ code: 2, out: '' });
});

test('an id that cannot be one is wrong usage', async () => {
  expect(await inProcess(['get', ''])).toEqual({
    code: 2,
    out: '',
    err: 'An id is a text that is not empty.\n',
  });
});

test.each([
  [['get', 'pay_1']],
  [['list']],
  [['cancel', 'pay_1']],
  [['refund', 'pay_1']],
  [['events', 'list']],
  [['sandbox', 'settle', 'pay_1']],
  [['login', '--key', KEY]],
])(
  'Ctrl-C ends %j while no answer comes',
  async (words) => {
    const stop = new AbortController();
    const { env } = await serve(() => stop.abort());
    const shown = environment({ PAYMENTS_API_KEY: KEY, ...env });
    expect((await runCommand(words, { env: shown, signal: stop.signal })).code).toBe(130);
  },
  10_000,
);

test('Ctrl-C ends a watch at once', async () => {
  const pending = { ...payment, status: 'pending', timeline: payment.timeline.slice(0, 1) };
  const { env } = await serve(json(200, pending));
  const child = spawn(process.execPath, ['--no-warnings', program, 'watch', 'pay_1'], {
    env: environment({ PAYMENTS_API_KEY: KEY, ...env }),
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.kill('SIGINT');
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(130);
  expect(existsSync(config)).toBe(false);
});
