// Lists of the command line that are longer than a page.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from './run-command.ts';
import { json, scriptedServer } from './scripted-server.ts';

const side = { payment_method_id: 'pm_a' };
const payment = (number: number) => ({
  id: `pay_${number}`,
  status: 'completed',
  amount: 100,
  currency: 'USD',
  source: side,
  destination: side,
});

/** Lists so many payments, the newest being the one with the highest number, in pages as they are asked for. */
async function serve(count: number) {
  const server = await scriptedServer((request, response) => {
    const query = new URL(request.path, 'http://x').searchParams;
    const from = Number(query.get('cursor') ?? count);
    const size = Math.min(Number(query.get('limit')), from);
    const data = Array.from({ length: size }, (_, at) => payment(from - at));
    const next_cursor = from > size ? String(from - size) : null;
    json(200, { object: 'list', data, next_cursor })(request, response);
  });
  const XDG_CONFIG_HOME = join(tmpdir(), 'no-payments-config');
  return { env: { XDG_CONFIG_HOME, PAYMENTS_API_KEY: 'sk_test_x', PAYMENTS_API_URL: server.url } };
}

test('all pages of a list are one, which says that it has ended', async () => {
  const ended = await runCommand(['list', '--all', '--json'], await serve(250));
  expect(ended).toMatchObject({ code: 0, err: '' });
  const { data, next_cursor } = JSON.parse(ended.out);
  expect([data.length, data[0].id, data[249].id, next_cursor]).toEqual([250, 'pay_250', 'pay_1', null]);
});

test.each([
  ['', [], 10_000],
  [' with pages of another size', ['--limit', '70'], 9_940],
])('a list that is cut at its bound%s says where it goes on', async (_title, more, listed) => {
  const world = await serve(10_150);
  const rest = String(10_150 - listed);
  const cut = await runCommand(['list', '--all', '--json', ...more], world);
  const { data, next_cursor } = JSON.parse(cut.out);
  expect([data.length, next_cursor]).toEqual([listed, rest]);
  expect(cut.err).toBe(`There are more: --cursor ${rest}\n`);
  const onward = await runCommand(['list', '--all', '--json', '--cursor', rest], world);
  expect(JSON.parse(onward.out).data[0].id).toBe(`pay_${rest}`);
  expect(onward.err).toBe('');
});

test('a table that is cut at its bound says where it goes on', async () => {
  const cut = await runCommand(['list', '--all'], await serve(10_001));
  expect(cut.out.split('\n')).toHaveLength(10_002);
  expect(cut.err).toBe('There are more: --cursor 1\n');
});
