// A stop loses nothing that was accepted: seen in this process, and with a real one that gets real signals.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Closer, runUntilSignal } from '@libs/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import { createTestApp, sendRaw } from '../test/test-app.ts';
import type { App } from './index.ts';

type Gate = { open: () => void; entered: Promise<void> };

/** `/slow` answers when the gate opens, `/taken` when it has its body. */
async function startSlowApp(): Promise<{ app: App; port: number; gate: Gate }> {
  const app = await createTestApp();
  const entered = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  app.get('/slow', async () => {
    entered.resolve();
    await opened.promise;
    return { done: true };
  });
  app.post('/taken', async () => ({ done: true }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { app, port, gate: { open: () => opened.resolve(), entered: entered.promise } };
}

async function getWith(
  agent: Agent,
  url: string,
): Promise<{ status: number; headers: IncomingMessage['headers']; body: string }> {
  const [response] = (await once(get(url, { agent }), 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    status: response.statusCode as number,
    headers: response.headers,
    body: Buffer.concat(chunks).toString(),
  };
}

describe('drain', () => {
  test('finishes what is open, with connection: close, and takes no new connection', async () => {
    const { app, port, gate } = await startSlowApp();
    const agent = new Agent({ keepAlive: true });
    const slow = getWith(agent, `http://127.0.0.1:${port}/slow`);
    await gate.entered;
    expect(app.drainSignal.aborted).toBe(false);
    const drained = app.drain();
    expect(app.drainSignal.aborted).toBe(true);
    await expect.poll(() => app.server.listening).toBe(false);
    await expect(sendRaw(port, 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')).rejects.toThrow(/ECONNREFUSED/);
    gate.open();
    const answer = await slow;
    expect(answer.status).toBe(200);
    expect(answer.body).toBe('{"done":true}');
    expect(answer.headers.connection).toBe('close');
    await drained;
    agent.destroy();
  });

  test('an idle kept connection is closed at once', async () => {
    const { app, port, gate } = await startSlowApp();
    gate.open();
    const agent = new Agent({ keepAlive: true });
    await getWith(agent, `http://127.0.0.1:${port}/healthz`);
    const started = performance.now();
    await app.drain();
    expect(performance.now() - started).toBeLessThan(4_000);
    agent.destroy();
  });

  test('is bounded: what does not end is cut', async () => {
    const { app, port, gate } = await startSlowApp();
    const agent = new Agent({ keepAlive: true });
    const slow = getWith(agent, `http://127.0.0.1:${port}/slow`).catch(
      (error: NodeJS.ErrnoException) => error.code,
    );
    await gate.entered;
    await app.drain({ timeoutMs: 50 });
    expect(await slow).toBe('ECONNRESET');
    agent.destroy();
  });

  test('who has sent no whole request is cut before those who wait for an answer', async () => {
    const { app, port, gate } = await startSlowApp();
    const slow = getWith(new Agent(), `http://127.0.0.1:${port}/slow`);
    await gate.entered;
    const unfinished = [
      '',
      'GET /healthz HTTP/1.1\r\nhost: x\r\n',
      'POST /taken HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
    ].map(async (text) => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.on('error', () => {});
      socket.write(text);
      return { closed: once(socket, 'close') };
    });
    const sockets = await Promise.all(unfinished);
    await expect
      .poll(() => new Promise((resolve) => app.server.getConnections((_, count) => resolve(count))))
      .toBe(4);
    const drained = app.drain({ unfinishedMs: 50 });
    await Promise.all(sockets.map(({ closed }) => closed));
    gate.open();
    expect((await slow).body).toBe('{"done":true}');
    await drained;
  });

  test('readiness and new requests are refused while draining', async () => {
    const { app, port, gate } = await startSlowApp();
    const answers: Record<string, number> = {};
    // A connection that sends its request only after draining began, kept open by an unfinished head.
    const late = (path: string) => {
      const socket = connect(port, '127.0.0.1');
      const done = new Promise<void>((resolve) => {
        socket.on('data', (chunk) => {
          answers[path] = Number(/HTTP\/1.1 (\d+)/.exec(chunk.toString())?.[1]);
          expect(chunk.toString()).toMatch(/connection: close/i);
        });
        socket.on('close', () => resolve());
      });
      socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n`);
      return { finish: () => socket.write('\r\n'), done };
    };
    const paths = ['/healthz', '/readyz', '/metrics', '/v1/things'];
    const sockets = paths.map(late);
    const slow = getWith(new Agent(), `http://127.0.0.1:${port}/slow`);
    await gate.entered;
    const drained = app.drain();
    for (const socket of sockets) socket.finish();
    await Promise.all(sockets.map((socket) => socket.done));
    gate.open();
    await slow;
    await drained;
    expect(answers).toEqual({ '/healthz': 200, '/readyz': 503, '/metrics': 200, '/v1/things': 503 });
  });
});

describe('leave', () => {
  test('whoever still sends is served, on connections that then close, until nobody does', async () => {
    const { app, port, gate } = await startSlowApp();
    gate.open();
    const agent = new Agent({ keepAlive: true });
    const url = `http://127.0.0.1:${port}`;
    await getWith(agent, `${url}/slow`);
    const leaving = app.leave();
    // The first over a connection that is kept, the others over new ones, as from a proxy that has not noticed yet.
    for (let sent = 0; sent < 20; sent += 1) {
      const answer = await getWith(agent, `${url}/slow`);
      expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
    }
    expect((await getWith(agent, `${url}/readyz`)).status).toBe(503);
    await leaving;
    expect(app.drainSignal.aborted).toBe(false);
    await app.drain();
    agent.destroy();
  });

  test('who asks on whether it is ready hears that it is not before it takes no more connections', async () => {
    const { app, port } = await startSlowApp();
    const agent = new Agent();
    const ask = async () => (await getWith(agent, `http://127.0.0.1:${port}/readyz`)).status;
    expect(await ask()).toBe(200);
    await sleep(600);
    expect(await ask()).toBe(200);
    const leaving = app.leave().then(() => app.drain());
    await sleep(300);
    expect(await ask()).toBe(503);
    await leaving;
  });

  test('is bounded: whoever goes on sending is refused in the end', { timeout: 30_000 }, async () => {
    const { app, port, gate } = await startSlowApp();
    gate.open();
    const agent = new Agent();
    let isOver = false;
    const leaving = app.leave().then(() => {
      isOver = true;
    });
    while (!isOver) await getWith(agent, `http://127.0.0.1:${port}/slow`);
    await leaving;
    await app.drain();
  });
});

describe('runUntilSignal', () => {
  test('drains, closes in order, exits 0; a closer that fails or hangs does not stop the others', async () => {
    for (const broken of [false, true]) {
      const app = await createTestApp();
      await app.listen({ host: '127.0.0.1', port: 0 });
      const handlers = new Map<string, () => void>();
      const signals = {
        on: (name: string, handler: () => void) => handlers.set(name, handler),
        off: (name: string) => handlers.delete(name),
      } as unknown as NodeJS.Process;
      const steps: string[] = [];
      const codes: number[] = [];
      const hang: Closer = { name: 'hang', close: () => new Promise(() => {}) };
      const fail: Closer = { name: 'fail', close: () => Promise.reject(new Error('no')) };
      const stopped = runUntilSignal({
        app,
        signals,
        exit: (code) => codes.push(code),
        onDrain: () => steps.push(`drain:${app.drainSignal.aborted}`),
        closeTimeoutMs: 50,
        closers: [
          { name: 'worker', close: async () => steps.push(`worker:${app.server.listening}`) },
          ...(broken ? [fail, hang] : []),
          { name: 'pool', close: () => steps.push('pool') },
        ],
      });
      expect([...handlers.keys()]).toEqual(['SIGTERM', 'SIGINT']);
      handlers.get('SIGTERM')?.();
      handlers.get('SIGINT')?.();
      await stopped;
      expect(steps).toEqual(['drain:true', 'worker:false', 'pool']);
      expect(codes).toEqual([broken ? 1 : 0]);
      expect(handlers.size).toBe(0);
    }
  });
});

describe('a real process', () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  function start(...args: string[]): ChildProcess {
    const program = fileURLToPath(new URL('../test/drain-program.ts', import.meta.url));
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    children.push(child);
    return child;
  }

  async function portOf(child: ChildProcess): Promise<number> {
    const [message] = (await once(child, 'message')) as [{ port: number }];
    return message.port;
  }

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s: the open request is answered, then exit 0',
    async (signal) => {
      const child = start();
      const port = await portOf(child);
      const slow = fetch(`http://127.0.0.1:${port}/slow`);
      await once(child, 'message');
      child.kill(signal);
      const response = await slow;
      expect(await response.json()).toEqual({ done: true });
      const [code] = (await once(child, 'exit')) as [number];
      expect(code).toBe(0);
    },
  );

  test('the loss of the parent stops it', async () => {
    const child = start();
    await portOf(child);
    child.disconnect();
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(0);
  });

  test('a port in use is one line on stderr and exit 1', async () => {
    const first = start();
    const port = await portOf(first);
    const second = start(String(port));
    let stderr = '';
    second.stderr?.on('data', (chunk) => {
      stderr += String(chunk);
    });
    const [code] = (await once(second, 'close')) as [number];
    expect(code).toBe(1);
    expect(stderr).toBe(`cannot start: port ${port} on 127.0.0.1 is in use: set PROGRAM_PORT\n`);
  });
});
