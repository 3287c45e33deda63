import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import type { Load, LoadReport } from './load.ts';

/*
 * A small HTTP/1.1 client on bare sockets: a general client spends more time per request than the server does, and
 * on two cores that would be measured instead of the server. Every response must carry a content length.
 */
const HEADER_END = Buffer.from('\r\n\r\n');
const LENGTH_HEADER = Buffer.from('content-length: ');
const STATUS_OFFSET = 'HTTP/1.1 '.length;
const ZERO = 48;
const NINE = 57;

/** Everything that all requests share is put together once; only the key is new. */
function requestWriter(load: Load): (key: string | null) => string {
  const headers = Object.entries(load.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const method = load.body === '' ? 'GET' : 'POST';
  const head = `${method} ${load.path} HTTP/1.1\r\nhost: ${new URL(load.url).host}\r\n${headers.join('')}`;
  const tail = `content-length: ${Buffer.byteLength(load.body)}\r\n\r\n${load.body}`;
  return (key) => (key === null ? head + tail : `${head}idempotency-key: ${key}\r\n${tail}`);
}

function digitsAt(bytes: Buffer, offset: number): number {
  let value = 0;
  for (let at = offset; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte < ZERO || byte > NINE) break;
    value = value * 10 + byte - ZERO;
  }
  return value;
}

/** The status of the response once all of it is there. */
function statusOf(response: Buffer): number | undefined {
  const end = response.indexOf(HEADER_END);
  if (end < 0) return undefined;
  const at = response.indexOf(LENGTH_HEADER);
  const length = at < 0 || at > end ? 0 : digitsAt(response, at + LENGTH_HEADER.length);
  if (response.length < end + HEADER_END.length + length) return undefined;
  return digitsAt(response, STATUS_OFFSET);
}

/** One connection that sends its next request as soon as it has read the response to the last one. */
function converse(
  load: Load,
  requestText: (key: string | null) => string,
  report: (status: number, sentAt: number) => boolean,
): Promise<void> {
  const { hostname, port } = new URL(load.url);
  const fixed = randomUUID();
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let received: Buffer | undefined;
    let sentAt = 0;
    const send = () => {
      sentAt = performance.now();
      const key = load.idempotencyKey === 'fresh' ? randomUUID() : fixed;
      socket.write(requestText(load.idempotencyKey === 'none' ? null : key), 'latin1');
    };
    socket.setNoDelay(true);
    socket.once('connect', send);
    socket.on('data', (chunk) => {
      received = received === undefined ? chunk : Buffer.concat([received, chunk]);
      const status = statusOf(received);
      if (status === undefined) return;
      received = undefined;
      if (!report(status, sentAt)) socket.destroy();
      else if (load.pauseMs === undefined) send();
      else setTimeout(send, Math.random() * 2 * load.pauseMs);
    });
    socket.on('error', reject);
    socket.on('close', () => resolve());
  });
}

async function run(load: Load): Promise<LoadReport> {
  const begin = performance.now();
  const end = begin + load.seconds * 1_000;
  const latencies: number[] = [];
  let unexpected = 0;
  let ended = 0;
  const report = (status: number, sentAt: number) => {
    const now = performance.now();
    if (status !== load.expectStatus) unexpected += 1;
    else if (sentAt >= begin && sentAt <= end) latencies.push(now - sentAt);
    if (now <= end) return true;
    ended += 1;
    return false;
  };
  const requestText = requestWriter(load);
  await Promise.all(Array.from({ length: load.connections }, () => converse(load, requestText, report)));
  if (ended !== load.connections) throw new Error('the server closed a connection');
  const sorted = Float64Array.from(latencies).sort();
  return {
    requests: latencies.length,
    perSecond: latencies.length / load.seconds,
    p50Ms: sorted[Math.floor(sorted.length * 0.5)] ?? 0,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    unexpected,
  };
}

process.once('message', async (load: Load) => {
  process.send?.(await run(load), () => process.exit(0));
});
