// What every vendor's test server shares: routes written from the vendor's published contract, a log of what arrived, a
// page that shows it to people, and faults on demand. Each platform has a folder with the routes of its own.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';

export interface Received {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  /** As sent. */
  raw: string;
  /** JSON or form fields, by the content type; null without a body. */
  body: unknown;
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  json?: unknown;
  text?: string;
}

export type Fault =
  | { kind: 'reply'; reply: Reply }
  | { kind: 'broken_json' }
  | { kind: 'drop' }
  | { kind: 'silent' }
  /** It does what it was asked to, and its answer never arrives. */
  | { kind: 'lost' }
  | { kind: 'endless' }
  /** 50 MB of good JSON. */
  | { kind: 'huge' }
  /** Half an answer, then nothing more. */
  | { kind: 'cut' }
  | { kind: 'redirect'; to: string };

export type Route = (request: Received, parameters: readonly string[]) => Reply | Promise<Reply>;

export interface VendorServer {
  url: string;
  received: Received[];
  /** The next request that fits gets this instead of an answer. */
  failNext(fault: Fault, matching?: (request: Received) => boolean): void;
  stop(): Promise<void>;
}

const BODY_BYTES_MAX = 20_000_000;
const RECEIVED_MAX = 10_000;
const SHOWN_MAX = 200;

/** `routes` maps `METHOD /path/with/*` to an answer; each `*` is one segment, decoded. */
export async function startVendorServer(
  title: string,
  routes: Readonly<Record<string, Route>>,
  port = 0,
): Promise<VendorServer> {
  const received: Received[] = [];
  const faults: { fault: Fault; matching: (request: Received) => boolean }[] = [];
  const table = Object.entries(routes).map(([key, route]) => {
    const [method = '', path = ''] = key.split(' ');
    const pattern = path.split('*').map(escapePattern).join('([^/]+)');
    return { method, pattern: new RegExp(`^${pattern}$`), route };
  });

  async function answer(request: Received): Promise<Reply> {
    for (const { method, pattern, route } of table) {
      const match = method === request.method ? pattern.exec(request.path) : null;
      if (match) return route(request, match.slice(1).map(decodeURIComponent));
    }
    return { status: 404, json: { error: `no route ${request.method} ${request.path}` } };
  }

  const server = createServer(async (incoming, response) => {
    const request = await read(incoming);
    if (request.path === '/__received') return show(title, received, response);
    if (received.length < RECEIVED_MAX) received.push(request);
    const position = faults.findIndex(({ matching }) => matching(request));
    if (position >= 0) {
      const [found] = faults.splice(position, 1);
      if (found?.fault.kind === 'lost') return void (await answer(request));
      return fail((found as (typeof faults)[number]).fault, incoming, response);
    }
    send(response, await answer(request));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    failNext: (fault, matching = () => true) => void faults.push({ fault, matching }),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const escapePattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

async function read(incoming: IncomingMessage): Promise<Received> {
  const url = new URL(incoming.url ?? '/', 'http://vendor.invalid');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) break;
    chunks.push(chunk);
  }
  const raw = Buffer.concat(chunks).toString('utf8');
  const type = incoming.headers['content-type'] ?? '';
  const body =
    raw === ''
      ? null
      : type.startsWith('application/json')
        ? JSON.parse(raw)
        : Object.fromEntries(new URLSearchParams(raw));
  return {
    ...{ method: incoming.method ?? 'GET', path: url.pathname, query: url.searchParams },
    ...{ headers: incoming.headers, raw, body },
  };
}

function send(response: ServerResponse, { status = 200, headers = {}, json, text }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(text ?? (json === undefined ? '' : JSON.stringify(json)));
}

function fail(fault: Fault, incoming: IncomingMessage, response: ServerResponse): void {
  if (fault.kind === 'reply') send(response, fault.reply);
  else if (fault.kind === 'broken_json') send(response, { text: '{"id":"1","text":"half a' });
  else if (fault.kind === 'redirect')
    send(response, { status: 302, headers: { location: fault.to }, text: '' });
  else if (fault.kind === 'drop') incoming.socket.destroy();
  else if (fault.kind === 'cut') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"id":"1",', () => incoming.socket.destroy());
  } else if (fault.kind === 'huge') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(HUGE_BYTES) });
    pipeline(Readable.from(huge()), response, () => {});
  } else if (fault.kind === 'endless') {
    response.writeHead(200, { 'content-type': 'application/json' });
    // As fast as the other side reads and no faster, so that what memory grows is its own.
    pipeline(Readable.from(endless()), response, () => {});
  }
}

const HUGE_BYTES = 50_000_000;

function* huge(): Generator<string> {
  yield '{"text":"';
  for (let left = HUGE_BYTES - 11; left > 0; left -= 50_000) yield 'x'.repeat(Math.min(left, 50_000));
  yield '"}';
}

function* endless(): Generator<string> {
  for (;;) yield 'x'.repeat(64 * 1024);
}

function show(title: string, received: readonly Received[], response: ServerResponse): void {
  const rows = received
    .slice(-SHOWN_MAX)
    .toReversed()
    .map(
      ({ method, path, query, raw }) =>
        `<tr><td>${html(method)}</td><td>${html(`${path}?${query}`)}</td><td><pre>${html(raw)}</pre></td></tr>`,
    );
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end(
    `<!doctype html><html lang="en"><title>${html(title)}</title><h1>${html(title)}: what arrived</h1><table><tr><th>Method</th><th>Address</th><th>Body</th></tr>${rows.join('')}</table></html>`,
  );
}

export function html(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
