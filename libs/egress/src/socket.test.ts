// Sockets for protocols of our own: the checked address is dialled, and who cancels ends them whenever that is.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GuardedPlace } from './resolve.ts';
import { openSocket } from './socket.ts';

let server: Server;
let place: GuardedPlace;

beforeAll(async () => {
  server = createServer((socket) => socket.on('error', () => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  place = { address: '127.0.0.1', family: 4, host: 'mail.invalid', port, mayBePlain: true };
});
afterAll(() => void server.close());

test('the checked address is dialled, whatever its name would resolve to', async () => {
  const opened = openSocket(place, { timeoutMs: 5_000, signal: new AbortController().signal });
  const socket = await opened.connected;
  expect(socket.remoteAddress).toBe('127.0.0.1');
  // The time was for the connecting alone; a protocol has limits of its own.
  expect(socket.timeout).toBe(0);
  opened.close();
  expect(socket.destroyed).toBe(true);
});

test('a call that is cancelled ends its socket, also long after it has connected', async () => {
  const call = new AbortController();
  const socket = await openSocket(place, { timeoutMs: 5_000, signal: call.signal }).connected;
  expect(socket.destroyed).toBe(false);
  call.abort();
  expect(socket.destroyed).toBe(true);
});

test('a call that was cancelled before never gets a socket', async () => {
  const opened = openSocket(place, { timeoutMs: 5_000, signal: AbortSignal.abort() });
  await expect(opened.connected).rejects.toThrow('the connection was closed');
});
