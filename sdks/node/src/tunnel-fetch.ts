import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import tls from 'node:tls';

// The global fetch of Node takes neither a proxy nor certificates without a further package, so a client that is given
// either speaks through node:https instead. It answers with the same Response.

export interface TunnelOptions {
  /** The address of an HTTP proxy, with its user and password where it wants them: `http://user:password@proxy:3128`. */
  proxy?: string | undefined;
  /** PEM certificates that are trusted beside the usual ones. */
  ca?: string | readonly string[] | undefined;
}

const STATUSES_WITHOUT_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

interface Tunnel {
  proxy: URL | undefined;
  ca: string[] | undefined;
}

/** A `fetch` that goes through the proxy and trusts the certificates; undefined where neither is asked for. */
export function readTunnel(options: TunnelOptions): typeof globalThis.fetch | undefined {
  const proxy = options.proxy ? readProxy(options.proxy) : undefined;
  const own = options.ca === undefined ? [] : [options.ca].flat();
  if (own.some((pem) => typeof pem !== 'string' || !pem.includes('-----BEGIN CERTIFICATE-----'))) {
    throw new TypeError('ca must be certificates in PEM form');
  }
  if (proxy === undefined && own.length === 0) return undefined;
  const tunnel: Tunnel = { proxy, ca: own.length === 0 ? undefined : [...tls.rootCertificates, ...own] };
  return (input, init) => send(tunnel, new URL(String(input)), init ?? {});
}

/** The value is not repeated in messages: it may contain a password. */
function readProxy(value: string): URL {
  let url: URL;
  try {
    url = new URL(value);
  } catch {
    throw new TypeError('proxy is not a URL: it looks like http://proxy.example.com:3128');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError('proxy must begin with http:// or https://');
  }
  return url;
}

async function send(tunnel: Tunnel, url: URL, init: RequestInit): Promise<Response> {
  const signal = init.signal ?? undefined;
  const socket = tunnel.proxy && url.protocol === 'https:' ? await connect(tunnel, url, signal) : undefined;
  const request = socket ? throughSocket(url, socket) : direct(tunnel, url);
  return new Promise((resolve, reject) => {
    request.once('error', reject);
    request.once('response', (answer) => resolve(toResponse(answer)));
    // Destroying the request ends the answer, too, however far it has come.
    const stop = () => request.destroy(new Error('aborted'));
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
    request.once('close', () => signal?.removeEventListener('abort', stop));
    const body = init.body as string | undefined;
    for (const [name, value] of Object.entries((init.headers ?? {}) as Record<string, string>)) {
      request.setHeader(name, value);
    }
    if (body !== undefined) request.setHeader('content-length', Buffer.byteLength(body));
    request.end(body);
  });

  function throughSocket(target: URL, through: tls.TLSSocket): http.ClientRequest {
    // Without an agent, which would make a connection of its own. The socket is encrypted already, so the request is plain.
    return http.request({
      ...hostOf(target),
      method: init.method ?? 'GET',
      path: `${target.pathname}${target.search}`,
      headers: { host: target.host, connection: 'close' },
      createConnection: () => through,
    });
  }

  function direct({ proxy, ca }: Tunnel, target: URL): http.ClientRequest {
    const method = init.method ?? 'GET';
    if (target.protocol === 'https:') {
      return https.request(target, { method, agent: false, ...(ca === undefined ? {} : { ca }) });
    }
    if (proxy === undefined) return http.request(target, { method, agent: false });
    // To a plain address a proxy is simply asked for the whole URL.
    const headers = { host: target.host, ...authorization(proxy) };
    return requestTo(proxy, { method, headers, path: target.href });
  }
}

/** Asks the proxy for a connection to the target, and speaks TLS with the target through it. */
function connect({ proxy, ca }: Tunnel, url: URL, signal: AbortSignal | undefined): Promise<tls.TLSSocket> {
  const { hostname, port } = hostOf(url);
  const path = `${url.hostname}:${port}`;
  return new Promise((resolve, reject) => {
    const request = requestTo(proxy as URL, {
      method: 'CONNECT',
      path,
      headers: { host: path, ...authorization(proxy as URL) },
      ...(signal === undefined ? {} : { signal }),
    });
    request.once('error', reject);
    request.once('connect', (answer, socket) => {
      if (answer.statusCode !== 200) {
        socket.destroy();
        reject(Object.assign(new Error('proxy'), { code: `PROXY_ANSWERED_${answer.statusCode}` }));
        return;
      }
      const secure = tls.connect({ socket, servername: hostname, ...(ca === undefined ? {} : { ca }) });
      // The request to the proxy has ended with its answer, and no longer listens to the signal.
      const stop = () => secure.destroy(new Error('aborted'));
      if (signal?.aborted) stop();
      else signal?.addEventListener('abort', stop, { once: true });
      secure.once('error', reject);
      secure.once('secureConnect', () => {
        signal?.removeEventListener('abort', stop);
        secure.off('error', reject);
        resolve(secure);
      });
    });
    request.end();
  });
}

function requestTo(proxy: URL, options: http.RequestOptions): http.ClientRequest {
  const { request } = proxy.protocol === 'https:' ? https : http;
  return request({ ...options, ...hostOf(proxy), agent: false });
}

function hostOf(url: URL): { hostname: string; port: number } {
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  return { hostname: url.hostname.replace(/^\[|\]$/g, ''), port };
}

function authorization(proxy: URL): Record<string, string> {
  if (proxy.username === '') return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(pair).toString('base64')}` };
}

function toResponse(answer: http.IncomingMessage): Response {
  const status = answer.statusCode as number;
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  const isEmpty = STATUSES_WITHOUT_BODY.has(status);
  if (isEmpty) answer.resume();
  const body = isEmpty ? null : (Readable.toWeb(answer) as unknown as ReadableStream<Uint8Array>);
  return new Response(body, { status, headers });
}
