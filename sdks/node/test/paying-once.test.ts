// The command line where answers are lost: who repeats a command must be able to do so without paying twice.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from './run-command.ts';
import { type Answer, empty, json, problem, scriptedServer, text } from './scripted-server.ts';

async function serve(...answers: [Answer, ...Answer[]]) {
  const server = await scriptedServer(...answers);
  const XDG_CONFIG_HOME = join(tmpdir(), 'no-payments-config');
  const env = { XDG_CONFIG_HOME, PAYMENTS_API_KEY: 'sk_test_x', PAYMENTS_API_URL: server.url };
  return { env, seen: server.seen };
}

const timeline = ['pending', 'processing', 'completed'].map((status, at) => ({
  status,
  timestamp: `t${at}`,
}));
const pending = { id: 'pay_1', status: 'pending', failure: null, timeline: timeline.slice(0, 1) };
const completed = { ...pending, status: 'completed', timeline };
const cut: Answer = (_request, response) => response.destroy();

const create = ['create', '--amount', '2500', '--source', 'pm_alice', '--destination', 'pm_bob'];
const refund = ['refund', 'pay_0'];

test.each([[create], [refund]])(
  '%j --wait names the payment before it is followed',
  async (words) => {
    const { env } = await serve(json(202, pending), cut);
    const ended = await runCommand([...words, '--wait', '--timeout', '1'], { env });
    expect(ended).toMatchObject({ code: 7, out: 't0  pending     pay_1\n' });
    expect(ended.err).toMatch(/^Payment pay_1 was last seen pending, and not again within 1 s: .*\n$/);
  },
  20_000,
);

test('a payment is followed over a restart of the server that takes longer than the retries of one look', async () => {
  const down = Array<Answer>(5).fill(problem(503, 'shutting_down'));
  const { env } = await serve(json(202, pending), ...down, cut, json(200, completed));
  const ended = await runCommand([...create, '--wait', '--json'], { env });
  expect(ended).toMatchObject({ code: 0, err: '' });
  expect(
    ended.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).status),
  ).toEqual(['pending', 'completed']);
}, 20_000);

test('a watch ends at once where the key is refused meanwhile, and where the server never answered', async () => {
  const revoked = await serve(json(200, pending), problem(401, 'unauthorized'));
  expect(await runCommand(['watch', 'pay_1'], revoked)).toMatchObject({
    code: 3,
    out: 't0  pending     pay_1\n',
  });
  const never = await serve(cut);
  expect(await runCommand(['watch', 'pay_1'], never)).toMatchObject({ code: 5, out: '' });
}, 20_000);

test.each<[string, Answer, number]>([
  ['no answer', cut, 5],
  ['an answer of something in between', text(200, '<html>'), 5],
  ['a server that is shutting down', problem(503, 'shutting_down'), 1],
  ['an answer without a body', empty(202), 5],
  ['nothing', json(202, null), 5],
  ['a list', json(202, []), 5],
  ['an object that is no payment', json(200, { status: 'maintenance' }), 5],
])(
  'with %s to a new payment, the line says with which key to repeat it',
  async (_title, answer, code) => {
    for (const words of [create, refund]) {
      const { env, seen } = await serve(answer);
      const ended = await runCommand(words, { env });
      const key = seen[0]?.headers['idempotency-key'] as string;
      expect(ended).toMatchObject({ code, out: '' });
      expect(ended.err).toMatch(/^[^\n]+ It may have been accepted: repeat with --idempotency-key [^\n]+\n$/);
      expect(ended.err).toContain(`--idempotency-key ${key} `);
      const mine = await runCommand([...words, '--idempotency-key', 'order-17'], { env });
      expect(mine.err).toContain('--idempotency-key order-17 ');
    }
  },
  60_000,
);

test('a refusal of a new payment is no reason to repeat it', async () => {
  const { env } = await serve(problem(422, 'insufficient_funds'));
  expect(await runCommand(create, { env })).toEqual({
    code: 1,
    out: '',
    err: 'Refused: insufficient_funds. (insufficient_funds, request req_1)\n',
  });
});

test('Ctrl-C before the answer to a new payment says with which key to repeat it', async () => {
  const stop = new AbortController();
  const { env, seen } = await serve(() => stop.abort());
  const ended = await runCommand(create, { env, signal: stop.signal });
  expect(ended).toMatchObject({ code: 130, out: '' });
  expect(ended.err).toContain(`repeat with --idempotency-key ${seen[0]?.headers['idempotency-key']} `);
});

test('a --timeout that cannot be meant is refused before anything is paid', async () => {
  const { env, seen } = await serve(json(202, pending));
  expect(await runCommand([...create, '--wait', '--timeout', 'soon'], { env })).toMatchObject({ code: 2 });
  expect(seen).toEqual([]);
});
