import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConnectionFailedError, Payments } from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'tunnel-'));
let secure: https.Server;
let plain: http.Server;
let proxy: http.Server;
let certificate: string;
const asked: string[] = [];
const tunnels: net.Socket[] = [];

const addressOf = (server: net.Server) => (server.address() as AddressInfo).port;
const listen = (server: net.Server) => new Promise<void>((done) => server.listen(0, '127.0.0.1', done));

beforeAll(async () => {
  const key = join(folder, 'key.pem');
  const cert = join(folder, 'cert.pem');
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-days', '2'];
  execFileSync('openssl', [...request, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  certificate = readFileSync(cert, 'utf8');
  const answer: http.RequestListener = async (message, response) => {
    let body = '';
    for await (const chunk of message) body += chunk;
    if (message.method === 'DELETE') {
      response.writeHead(204).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ path: message.url, key: message.headers.authorization, body }));
  };
  secure = https.createServer({ key: readFileSync(key), cert: certificate }, answer);
  plain = http.createServer(answer);
  proxy = http.createServer(async (message, response) => {
    asked.push(`${message.method} ${message.url} ${message.headers['proxy-authorization'] ?? ''}`.trim());
    const { host, 'proxy-authorization': _own, ...headers } = message.headers;
    const onward = http.request(
      message.url as string,
      { method: message.method ?? 'GET', headers },
      (found) => {
        response.writeHead(found.statusCode as number, found.headers);
        found.pipe(response);
      },
    );
    message.pipe(onward);
  });
  proxy.on('connect', (message: http.IncomingMessage, socket: net.Socket) => {
    tunnels.push(socket);
    asked.push(`CONNECT ${message.url} ${message.headers['proxy-authorization'] ?? ''}`.trim());
    if (message.headers['proxy-authorization'] === undefined) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const onward = net.connect(addressOf(secure), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  await Promise.all([secure, plain, proxy].map(listen));
});

afterAll(async () => {
  for (const socket of tunnels) socket.destroy();
  for (const server of [secure, plain, proxy]) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
  rmSync(folder, { recursive: true });
});

const client = (options: object) => new Payments({ apiKey: 'sk_test_tunnel', maxRetries: 0, ...options });

test('a certificate of one’s own is trusted where it is given, and refused at once where not', async () => {
  const baseUrl = `https://localhost:${addressOf(secure)}`;
  expect(await client({ baseUrl, ca: certificate }).payments.get('pay_1')).toMatchObject({
    path: '/v1/payments/pay_1',
  });
  await client({ baseUrl, ca: [certificate] }).paymentMethods.delete('pm_1');
  const refused = await client({ baseUrl, maxRetries: 5 })
    .payments.get('pay_1')
    .catch((error) => error);
  expect(refused).toBeInstanceOf(ConnectionFailedError);
  expect(refused).toMatchObject({
    retryable: false,
    message: expect.stringMatching(/DEPTH_ZERO_SELF_SIGNED_CERT/),
  });
});

test('https goes through a tunnel of the proxy, which sees neither key nor body', async () => {
  asked.length = 0;
  const address = `http://user:p%40ss@127.0.0.1:${addressOf(proxy)}`;
  const baseUrl = `https://localhost:${addressOf(secure)}`;
  const answer = await client({ baseUrl, ca: certificate, proxy: address }).sandbox.fund('pm_1', 5);
  expect(answer).toMatchObject({ key: 'Bearer sk_test_tunnel', body: '{"amount":5}' });
  expect(asked).toEqual([`CONNECT localhost:${addressOf(secure)} Basic ${btoa('user:p@ss')}`]);
});

test('a plain address is asked of the proxy by its whole URL', async () => {
  asked.length = 0;
  const address = `http://127.0.0.1:${addressOf(proxy)}`;
  const baseUrl = `http://127.0.0.1:${addressOf(plain)}`;
  expect(await client({ baseUrl, proxy: address }).payments.get('pay_1')).toMatchObject({
    key: 'Bearer sk_test_tunnel',
  });
  expect(asked).toEqual([`GET ${baseUrl}/v1/payments/pay_1`]);
});

test('a proxy that refuses, and one that is not there, are named without the password', async () => {
  const baseUrl = `https://localhost:${addressOf(secure)}`;
  const errors = await Promise.all(
    [`http://127.0.0.1:${addressOf(proxy)}`, 'http://user:hidden@127.0.0.1:1'].map((address) =>
      client({ baseUrl, proxy: address })
        .payments.get('pay_1')
        .catch((error) => error),
    ),
  );
  expect(errors.map((error) => error.message)).toEqual([
    expect.stringMatching(/PROXY_ANSWERED_407/),
    expect.stringMatching(/ECONNREFUSED/),
  ]);
  expect(errors.map((error) => `${error.stack}`).join()).not.toContain('hidden');
});

test('a target that is silent behind the proxy ends with its time, and with the signal', async () => {
  const silent = http.createServer().on('connect', (_message, socket: net.Socket) => {
    tunnels.push(socket);
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
  });
  await listen(silent);
  const { payments } = new Payments({
    apiKey: 'sk_test_x',
    baseUrl: 'https://localhost',
    proxy: `http://127.0.0.1:${addressOf(silent)}`,
    maxRetries: 0,
  });
  await expect(payments.get('pay_1', { timeoutMs: 200 })).rejects.toMatchObject({ code: 'timeout' });
  const signal = AbortSignal.timeout(200);
  await expect(payments.get('pay_1', { signal })).rejects.toMatchObject({ name: 'TimeoutError' });
  for (const tunnel of tunnels.splice(0)) tunnel.destroy();
  await new Promise((resolve) => silent.close(resolve));
});
