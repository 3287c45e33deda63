import type { SecureContextOptions } from 'node:tls';
import { Agent, buildConnector } from 'undici';
import type { EgressPolicy } from './policy.ts';
import { type GuardedAddress, resolveGuarded, resolvePlain } from './resolve.ts';

export interface GuardedAgentOptions {
  /** For one address; up to three addresses of a name are tried. */
  readonly connectTimeoutMs?: number;
  /** Open connections per origin; unlimited unless set, for callers that limit themselves. */
  readonly connectionsPerOrigin?: number;
  /** Extra authorities or a client certificate. */
  readonly tls?: Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>;
}

export type { Agent, Dispatcher } from 'undici';

const CONNECT_TIMEOUT_MS = 5_000;
/** Short, because a server that closes an idle connection at the moment of a request makes that request fail. */
const KEEP_ALIVE_MS = 4_000;
const ADDRESSES_TRIED_MAX = 3;
const RESPONSE_HEADERS_BYTES_MAX = 16 * 1024;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

type ConnectOptions = buildConnector.Options;
type ConnectCallback = buildConnector.Callback;

async function resolveForConnect(options: ConnectOptions, policy: EgressPolicy): Promise<GuardedAddress> {
  const port = options.port === '' ? (DEFAULT_PORTS[options.protocol] ?? 0) : Number(options.port);
  const resolve = options.protocol === 'https:' ? resolveGuarded : resolvePlain;
  return resolve(options.hostname, port, policy);
}

/**
 * An agent that dials only addresses which the policy let through. The name is resolved once for each new connection,
 * every answer is checked, and the checked address itself is dialled: no second lookup exists that could answer
 * otherwise. Redirects are not followed.
 */
export function createGuardedAgent(policy: EgressPolicy, options: GuardedAgentOptions = {}): Agent {
  const dial = buildConnector({
    ...options.tls,
    timeout: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    allowH2: false,
  });

  function dialFirstOf(
    connect: ConnectOptions,
    addresses: readonly string[],
    callback: ConnectCallback,
  ): void {
    const [address, ...others] = addresses;
    dial({ ...connect, hostname: address ?? '' }, (...result) => {
      if (result[0] !== null && others.length > 0) dialFirstOf(connect, others, callback);
      else callback(...result);
    });
  }

  return new Agent({
    allowH2: false,
    pipelining: 1,
    connections: options.connectionsPerOrigin ?? null,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: RESPONSE_HEADERS_BYTES_MAX,
    connect: (connect, callback) => {
      resolveForConnect(connect, policy).then(
        ({ addresses }) => {
          const texts = addresses.slice(0, ADDRESSES_TRIED_MAX).map(({ address }) => address);
          dialFirstOf(connect, texts, callback);
        },
        (error: Error) => callback(error, null),
      );
    },
  });
}
