// `payments listen` as a program of its own, over restarts of the server, of itself and of the receiver.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, expect, onTestFailed, test } from 'vitest';
import { webhooks } from '../src/index.ts';
import { type EventServer, startEventServer } from './event-server.ts';

const program = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'payments-listen-'));
const children: ChildProcess[] = [];
const servers: EventServer[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const server of servers.splice(0)) await server.stop();
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Listening {
  out: string[];
  err: string[];
  stop(signal?: NodeJS.Signals): Promise<number>;
}

const environment = (url: string) => ({
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  XDG_CONFIG_HOME: home,
  PAYMENTS_API_KEY: 'sk_test_x',
  PAYMENTS_API_URL: url,
});

function payments(words: string[], url: string): Listening {
  const child = spawn(process.execPath, ['--no-warnings', program, ...words], {
    env: environment(url),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const out: string[] = [];
  const err: string[] = [];
  const collect = (lines: string[]) => (chunk: Buffer) =>
    lines.push(...chunk.toString().trimEnd().split('\n'));
  child.stdout.on('data', collect(out));
  child.stderr.on('data', collect(err));
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)));
  return {
    out,
    err,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}

async function serve(options = {}): Promise<EventServer> {
  const server = await startEventServer(options);
  servers.push(server);
  return server;
}

const soon = { interval: 20 };
const idsOf = (lines: string[]) => lines.flatMap((line) => /evt_\d+/.exec(line) ?? []);
const ids = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `evt_${String(from + index).padStart(6, '0')}`);

test('prints events as they happen, over a restart of the server and of itself: none lost, none doubled', async () => {
  const server = await serve();
  server.emit(1);
  const first = payments(['listen'], server.url);
  await expect.poll(() => first.err, soon).toContain('Listening from now on.');
  await expect.poll(() => first.err.join(), soon).toMatch(/Connected/);
  server.emit(2);
  server.emit(3);
  await expect.poll(() => idsOf(first.out), soon).toEqual(ids(2, 3));
  await server.stop();
  server.emit(4);
  await server.start();
  server.emit(5);
  await expect.poll(() => idsOf(first.out), soon).toEqual(ids(2, 5));
  expect(await first.stop()).toBe(0);
  server.emit(6);
  const second = payments(['listen', '--json'], server.url);
  await expect.poll(() => second.out.map((line) => JSON.parse(line).id), soon).toEqual(ids(6, 6));
  expect(second.err[0]).toBe('Going on after evt_000005.');
  // Ctrl-C is how it ends, as the README says of it alone.
  expect(await second.stop('SIGINT')).toBe(0);
}, 60_000);

test('forwards with a signature that the receiver verifies, also while the receiver restarts', async () => {
  const server = await serve();
  const shown = payments(['listen', '--print-secret'], server.url);
  await expect.poll(() => shown.out, soon).toHaveLength(1);
  const [secret] = shown.out as [string];
  const received: string[] = [];
  const open = async (port: number): Promise<Server> => {
    const receiver = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const event = webhooks.verify(Buffer.concat(chunks), request.headers, secret);
      expect(Object.keys(event)).toEqual(['id', 'type', 'timestamp', 'mode', 'data']);
      received.push(event.id);
      response.writeHead(event.id === 'evt_000002' ? 500 : 204).end();
    });
    await new Promise<void>((resolve) => receiver.listen(port, '127.0.0.1', resolve));
    return receiver;
  };
  const close = (receiver: Server) => {
    receiver.closeAllConnections();
    return new Promise((resolve) => receiver.close(resolve));
  };
  const before = await open(0);
  const { port } = before.address() as AddressInfo;
  const listening = payments(['listen', '--forward-to', `127.0.0.1:${port}/hooks`], server.url);
  await expect.poll(() => listening.err.join(), soon).toMatch(/Connected/);
  server.emit(1);
  server.emit(2);
  await expect.poll(() => received, soon).toEqual(ids(1, 2));
  await close(before);
  server.emit(3);
  const after = await open(port);
  await expect.poll(() => received, soon).toEqual(ids(1, 3));
  await expect.poll(() => listening.out, soon).toHaveLength(3);
  expect(listening.out[0]).toMatch(/payment\.completed +evt_000001 +pay_1 +→ 204 in \d+ ms/);
  expect(listening.out[1]).toMatch(/→ 500/);
  expect(await listening.stop()).toBe(0);
  await close(after);
  expect([...listening.out, ...listening.err].join()).not.toContain(secret);
}, 60_000);

test('an event whose receiver does not answer is cut by an interruption, and is the first of the next listen', async () => {
  const server = await serve();
  const received: string[] = [];
  const receiver = createServer((request, response) => {
    received.push(String(request.headers['webhook-id']));
    if (received.length > 1) response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const words = ['listen', '--forward-to', `127.0.0.1:${(receiver.address() as AddressInfo).port}`];
  const first = payments(words, server.url);
  await expect.poll(() => first.err.join(), soon).toMatch(/Connected/);
  server.emit(1);
  await expect.poll(() => received, soon).toEqual(ids(1, 1));
  expect(await first.stop()).toBe(0);
  expect(first.out).toEqual([]);
  const second = payments(words, server.url);
  await expect.poll(() => received, soon).toEqual([...ids(1, 1), ...ids(1, 1)]);
  expect(await second.stop()).toBe(0);
  receiver.closeAllConnections();
  await new Promise((resolve) => receiver.close(resolve));
}, 60_000);

test('a program that npx runs ends with npx, whose signal does not reach it', async () => {
  const server = await serve();
  // The shell waits for it, as the one of npx does. Both are a group, which is ended here should the program stay.
  const shell = spawn('sh', ['-c', '"$0" --no-warnings "$1" listen; exit', process.execPath, program], {
    env: { ...environment(server.url), npm_command: 'exec' },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  onTestFailed(() => void process.kill(-(shell.pid ?? 0), 'SIGKILL'));
  const said: string[] = [];
  shell.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
  // What the shell began holds its output open for as long as it runs.
  const allEnded = once(shell.stderr, 'close');
  await expect.poll(() => said.join(''), soon).toMatch(/Connected/);
  shell.kill('SIGTERM');
  await allEnded;
}, 60_000);

test('a clock that is off is one line', async () => {
  const server = await serve({ date: () => new Date(Date.now() - 12 * 60_000).toUTCString() });
  const listening = payments(['listen', '--from-now'], server.url);
  await expect
    .poll(() => listening.err, soon)
    .toContain(
      "This machine's clock is 12 min ahead of the server's: signatures will be refused until it is set right.",
    );
  await listening.stop();
}, 30_000);
