import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Load, LoadReport } from './load.ts';

/*
 * A small HTTP/1.1 client on bare sockets: a general client spends more time per request than the server does, and
 * on two cores that would be measured instead of the server. Every response must carry a content length.
 */
const HEADER_END = Buffer.from('\r\n\r\n');

/** Everything that all requests share is put together once; only the key is new. */
function requestWriter(load: Load): (key: string | null) => string {
  const headers = Object.entries(load.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const method = load.body === '' ? 'GET' : 'POST';
  const head = `${method} ${load.path} HTTP/1.1\r\nhost: ${new URL(load.url).host}\r\n${headers.join('')}`;
  const tail = `content-length: ${Buffer.byteLength(load.body)}\r\n\r\n${load.body}`;
  return (key) => (key === null ? head + tail : `${head}idempotency-key: ${key}\r\n${tail}`);
}

class Connection {
  readonly #socket: Socket;
  #buffer: Buffer = Buffer.alloc(0);
  #waiting: { resolve(status: number): void; reject(error: Error): void } | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('the server closed the connection')));
  }

  request(text: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(text);
    });
  }

  end(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    const end = this.#buffer.indexOf(HEADER_END);
    if (end < 0) return;
    const head = this.#buffer.toString('latin1', 0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.#buffer.length < end + 4 + length) return;
    this.#buffer = this.#buffer.subarray(end + 4 + length);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(Number(head.slice(9, 12)));
  }
}

async function run(load: Load): Promise<LoadReport> {
  const { hostname, port } = new URL(load.url);
  const begin = performance.now() + load.warmupSeconds * 1_000;
  const end = begin + load.seconds * 1_000;
  const latencies: number[] = [];
  const requestText = requestWriter(load);
  let unexpected = 0;
  const worker = async () => {
    const socket = connect(Number(port), hostname);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    const connection = new Connection(socket);
    const fixed = randomUUID();
    for (;;) {
      const sentAt = performance.now();
      if (sentAt > end) break;
      const key = { none: null, fixed, fresh: randomUUID() }[load.idempotencyKey];
      const status = await connection.request(requestText(key));
      if (status !== load.expectStatus) unexpected += 1;
      else if (sentAt >= begin) latencies.push(performance.now() - sentAt);
    }
    connection.end();
  };
  await Promise.all(Array.from({ length: load.connections }, worker));
  const sorted = Float64Array.from(latencies).sort();
  return {
    perSecond: latencies.length / load.seconds,
    p50Ms: sorted[Math.floor(sorted.length * 0.5)] ?? 0,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    unexpected,
  };
}

process.once('message', async (load: Load) => {
  process.send?.(await run(load), () => process.exit(0));
});
