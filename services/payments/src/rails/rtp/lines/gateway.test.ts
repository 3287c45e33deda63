/** The live transport against a real TLS server that demands our certificate. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { makeSelfSigned } from '../../../../../../libs/egress/test/self-signed.ts';
import { LIVE_POLICY } from '../submissions/submission.ts';
import {
  createRtpGateway,
  type GatewayDependencies,
  NEVER_LEFT_AFTER_MS,
  type RtpGateway,
} from './gateway.ts';

const server = makeSelfSigned(['localhost']);
const client = makeSelfSigned(['client']);
const stranger = makeSelfSigned(['stranger']);

let folder: string;
let gateways: RtpGateway[] = [];
let listening: Server;
let url: string;
let received: { body: string; peer: string; type: string | undefined }[];
let answer: (response: ServerResponse, request: IncomingMessage) => void;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rtp-gateway-'));
  const files = { server, client, stranger };
  for (const [name, { cert, key }] of Object.entries(files)) {
    await writeFile(join(folder, `${name}.crt`), cert);
    await writeFile(join(folder, `${name}.key`), key);
  }
  listening = createServer(
    { ...server, ca: [client.cert], requestCert: true, rejectUnauthorized: true },
    async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const socket = request.socket as unknown as { getPeerCertificate(): { subject: { CN: string } } };
      received.push({
        body: Buffer.concat(parts).toString(),
        peer: socket.getPeerCertificate().subject.CN,
        type: request.headers['content-type'],
      });
      answer(response, request);
    },
  );
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  url = `https://localhost:${(listening.address() as AddressInfo).port}/messages`;
});
afterEach(() => {
  for (const gateway of gateways) gateway.close();
  gateways = [];
});
afterAll(async () => {
  listening.closeAllConnections();
  listening.close();
  await rm(folder, { recursive: true });
});

async function connect(options: Partial<GatewayDependencies> = {}): Promise<RtpGateway> {
  received = [];
  const gateway = await createRtpGateway({
    url,
    certificatePath: join(folder, 'client.crt'),
    keyPath: join(folder, 'client.key'),
    authorityPath: join(folder, 'server.crt'),
    connectRetryMs: 1,
    timeoutMs: 5_000,
    ...options,
  });
  gateways.push(gateway);
  return gateway;
}

async function send(gateway: RtpGateway, ...messages: string[]) {
  return gateway.send(messages.map((xml) => ({ xml, clockIsSet: false })));
}

describe('what arrives', () => {
  test('goes out under our certificate; a body of 200 is the answer, 202 has none', async () => {
    answer = (response) => response.writeHead(200).end('<Answer>é</Answer>');
    const gateway = await connect();
    expect(await send(gateway, '<Message>ü</Message>')).toEqual([
      { kind: 'delivered', answers: ['<Answer>é</Answer>'] },
    ]);
    expect(received).toEqual([
      { body: '<Message>ü</Message>', peer: 'client', type: 'application/xml; charset=utf-8' },
    ]);
    answer = (response) => response.writeHead(202).end('taken');
    expect(await send(gateway, 'a')).toEqual([{ kind: 'delivered', answers: [] }]);
    answer = (response) => response.writeHead(200).end();
    expect(await send(gateway, 'b')).toEqual([{ kind: 'delivered', answers: [] }]);
  });

  test('many go side by side over few connections, each with its own answer', async () => {
    const sockets = new Set<unknown>();
    answer = (response, request) => {
      sockets.add(request.socket);
      response.writeHead(200).end(`re ${received.at(-1)?.body}`);
    };
    const gateway = await connect({ inFlightMax: 4 });
    const messages = Array.from({ length: 40 }, (_, index) => `m${index}`);
    const deliveries = await send(gateway, ...messages);
    expect(deliveries).toEqual(messages.map((xml) => ({ kind: 'delivered', answers: [`re ${xml}`] })));
    expect(sockets.size).toBeLessThanOrEqual(4);
  });

  test('an answer that is no text is carried whole', async () => {
    answer = (response) => response.writeHead(200).end(Buffer.from([0x3c, 0x00, 0xff]));
    const [delivery] = await send(await connect(), 'a');
    expect(delivery).toEqual({
      kind: 'delivered',
      answers: [`data:application/octet-stream;base64,${Buffer.from([0x3c, 0x00, 0xff]).toString('base64')}`],
    });
  });
});

describe('what may have arrived is unknown', () => {
  test.each([400, 401, 404, 429, 500, 503, 302])('status %i', async (status) => {
    answer = (response) => response.writeHead(status, { location: '/elsewhere' }).end('no');
    expect(await send(await connect(), 'a')).toEqual([
      { kind: 'unknown', reason: `the gateway answered ${status}` },
    ]);
    expect(received).toHaveLength(1);
  });

  test('no answer in time', async () => {
    answer = () => {};
    expect(await send(await connect({ timeoutMs: 100 }), 'a')).toEqual([
      { kind: 'unknown', reason: 'TIMEOUT' },
    ]);
  });

  test('a connection cut before the answer, also one that was used before', async () => {
    answer = (response) => response.writeHead(202).end();
    const gateway = await connect();
    await send(gateway, 'first');
    answer = (response) => response.socket?.destroy();
    expect(await send(gateway, 'second')).toEqual([{ kind: 'unknown', reason: 'ECONNRESET' }]);
    expect(await send(gateway, 'third')).toEqual([{ kind: 'unknown', reason: 'ECONNRESET' }]);
    expect(received.map(({ body }) => body)).toEqual(['first', 'second', 'third']);
  });

  test('a message that waited for a connection in use, when that is cut', async () => {
    answer = (response) => {
      if (received.length < 3) response.writeHead(202).end();
      else response.socket?.destroy();
    };
    const deliveries = await send(await connect({ inFlightMax: 1 }), 'a', 'b', 'c');
    expect(deliveries.map(({ kind }) => kind)).toEqual(['delivered', 'delivered', 'unknown']);
    expect(received).toHaveLength(3);
  });

  test('who waits for others to be answered is not taken for one that cannot connect', async () => {
    answer = (response) => setTimeout(() => response.writeHead(202).end(), 150);
    const gateway = await connect({ inFlightMax: 1, connectTimeoutMs: 100 });
    const deliveries = await send(gateway, 'a', 'b', 'c');
    expect(deliveries.map(({ kind }) => kind)).toEqual(['delivered', 'delivered', 'delivered']);
    expect(received).toHaveLength(3);
  });

  test('an answer that ends early or does not end', async () => {
    answer = (response) => {
      response.writeHead(200, { 'content-length': 100 }).write('half');
      setTimeout(() => response.socket?.destroy(), 20);
    };
    expect((await send(await connect(), 'a'))[0]?.kind).toBe('unknown');
    answer = (response) => response.writeHead(200).end('x'.repeat(300_000));
    expect(await send(await connect(), 'a')).toEqual([
      { kind: 'unknown', reason: 'the answer is too large' },
    ]);
  });

  test('a certificate that the gateway does not take', async () => {
    answer = (response) => response.writeHead(202).end();
    for (const options of [
      { certificatePath: undefined, keyPath: undefined },
      { certificatePath: join(folder, 'stranger.crt'), keyPath: join(folder, 'stranger.key') },
    ]) {
      const [delivery] = await send(await connect(options), 'a');
      expect(delivery?.kind).not.toBe('delivered');
      expect(received).toEqual([]);
    }
  });
});

describe('what never left', () => {
  test('nobody listens', async () => {
    const gone = createTcpServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.close();
    const gateway = await connect({ url: `https://localhost:${port}/` });
    expect(await send(gateway, 'a')).toEqual([{ kind: 'never_left', reason: 'ECONNREFUSED' }]);
  });

  test('the name does not exist', async () => {
    const gateway = await connect({ url: 'https://gateway.invalid/' });
    const [delivery] = await send(gateway, 'a');
    expect(delivery).toMatchObject({
      kind: 'never_left',
      reason: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/),
    });
  });

  test('the other side is not the gateway: its certificate is not of our authority', async () => {
    answer = (response) => response.writeHead(202).end();
    const gateway = await connect({ authorityPath: join(folder, 'stranger.crt') });
    expect((await send(gateway, 'a'))[0]?.kind).toBe('never_left');
    expect(received).toEqual([]);
  });

  test('a handshake that does not come to an end', async () => {
    const silent = createTcpServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const gateway = await connect({ url: `https://localhost:${port}/`, connectTimeoutMs: 50 });
    expect(await send(gateway, 'a')).toEqual([{ kind: 'never_left', reason: 'TIMEOUT' }]);
    silent.close();
  });

  test('that nothing left is known well before it would be asked after, from when on it could not be given back', () => {
    expect(NEVER_LEFT_AFTER_MS).toBeLessThan(0.5 * LIVE_POLICY.inquireAfterMs);
  });

  test('a gateway that comes back while we try again gets the message once', async () => {
    let refused = 0;
    const front = createTcpServer((socket) => {
      refused += 1;
      if (refused < 3) socket.destroy();
      else {
        front.close();
        listening.emit('connection', socket);
      }
    }).listen(0, '127.0.0.1');
    await once(front, 'listening');
    answer = (response) => response.writeHead(202).end();
    const gateway = await connect({ url: `https://localhost:${(front.address() as AddressInfo).port}/` });
    expect(await send(gateway, 'a')).toEqual([{ kind: 'delivered', answers: [] }]);
    expect(received).toHaveLength(1);
  });
});
