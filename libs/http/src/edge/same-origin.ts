import type { IncomingHttpHeaders } from 'node:http';
import { baseErrors } from '@libs/runtime';

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** The origins under which this service is reached: the public one, and all names of this machine while that is local. */
export function acceptedOrigins(publicUrl: string): ReadonlySet<string> {
  const url = new URL(publicUrl);
  if (!LOOPBACK_HOSTS.has(url.hostname)) return new Set([url.origin]);
  const port = url.port === '' ? '' : `:${url.port}`;
  return new Set([...LOOPBACK_HOSTS].map((host) => `${url.protocol}//${host}${port}`));
}

/** The same as values of the `Host` header. */
export function acceptedHosts(publicUrl: string): ReadonlySet<string> {
  return new Set([...acceptedOrigins(publicUrl)].map((origin) => origin.slice(origin.indexOf('//') + 2)));
}

export type HostCheck = (host: string, localPort: number | undefined) => boolean;

/**
 * The names that requests may come in under. While the public address is this machine's own, its names count on the port
 * of this process too: it may be one of several behind that address. No name of a stranger ever counts.
 */
export function createHostCheck(publicUrl: string): HostCheck {
  const hosts = acceptedHosts(publicUrl);
  const isLocal = LOOPBACK_HOSTS.has(new URL(publicUrl).hostname);
  return (host, localPort) => {
    if (hosts.has(host)) return true;
    const lower = host.toLowerCase();
    if (hosts.has(lower)) return true;
    const port = `:${localPort}`;
    return isLocal && lower.endsWith(port) && LOOPBACK_HOSTS.has(lower.slice(0, -port.length));
  };
}

type HeaderRequest = { method: string; headers: IncomingHttpHeaders };

/**
 * Whether a request may act with the rights of its cookie: one that only reads, or one that no other site can have
 * caused. A form of another site cannot send JSON, and a script of another site cannot hide its origin.
 */
export function sameOrigin(request: HeaderRequest, origins: ReadonlySet<string>): boolean {
  if (SAFE_METHODS.has(request.method)) return true;
  const { origin, 'sec-fetch-site': site, 'content-type': type } = request.headers;
  if (origin !== undefined && !origins.has(origin)) return false;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  if (type !== undefined) return /^application\/json\s*(?:;|$)/i.test(type);
  return !hasBody(request.headers);
}

function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Throws 403 `csrf`; call it for requests that are authenticated by a cookie, before their body is read. */
export function requireSameOrigin(request: HeaderRequest, origins: ReadonlySet<string>): void {
  if (!sameOrigin(request, origins)) throw baseErrors.csrf();
}

/**
 * For requests that no cookie authenticates. A page of a name that was made to lead to this machine (DNS rebinding) may
 * send what it likes here and read the answers, with a token that everybody knows; what it writes comes with an origin
 * that is the host it asks for, and not ours. Other pages are held off by their browser, and programs have no origin.
 */
export function refuseForeignPages({ method, headers }: HeaderRequest, origins: ReadonlySet<string>): void {
  const { origin, host } = headers;
  if (origin === undefined || SAFE_METHODS.has(method) || origins.has(origin)) return;
  if (URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()) throw baseErrors.csrf();
}
