import type { WebhookEndpoint } from '../api/types.ts';

const PATH_LENGTH_MAX = 16;

/** The host of an endpoint's address; where another endpoint has the same host, the end of its path as well. */
export function shortAddress({ id, url }: WebhookEndpoint, all: readonly WebhookEndpoint[]): string {
  const { host, pathname, search } = new URL(url);
  const isShared = all.some((other) => other.id !== id && new URL(other.url).host === host);
  if (!isShared) return host;
  const path = pathname === '/' ? search : `${pathname}${search}`;
  return path.length > PATH_LENGTH_MAX ? `${host}/…${path.slice(-PATH_LENGTH_MAX)}` : `${host}${path}`;
}
