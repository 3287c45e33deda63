import type { SecureContextOptions } from 'node:tls';
import type { EgressPolicy } from './policy.ts';
import { type GuardedAddress, resolveGuarded, resolvePlain } from './resolve.ts';

/** Extra authorities or a client certificate. */
export type TlsOptions = Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>;

export interface ConnectLimits {
  /** For one address; up to three addresses of a name are tried. */
  readonly connectTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
const ADDRESSES_TRIED_MAX = 3;
/** Short, because a server that closes an idle connection at the moment of a request makes that request fail. */
export const KEEP_ALIVE_MS = 4_000;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

export function connectLimits({ connectTimeoutMs }: ConnectLimits) {
  return { timeoutMs: connectTimeoutMs ?? CONNECT_TIMEOUT_MS, addressesMax: ADDRESSES_TRIED_MAX };
}

/** What a new connection of HTTP may dial: resolved once, every address checked, without TLS only where that is allowed. */
export async function resolveForConnect(
  place: { readonly protocol: string; readonly hostname: string; readonly port: string },
  policy: EgressPolicy,
): Promise<GuardedAddress> {
  const port = place.port === '' ? (DEFAULT_PORTS[place.protocol] ?? 0) : Number(place.port);
  const resolve = place.protocol === 'https:' ? resolveGuarded : resolvePlain;
  return resolve(place.hostname, port, policy);
}
