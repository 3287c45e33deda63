import { Agent, buildConnector } from 'undici';
import {
  type ConnectLimits,
  connectLimits,
  KEEP_ALIVE_MS,
  resolveForConnect,
  type TlsOptions,
} from './connecting.ts';
import type { EgressPolicy } from './policy.ts';

export interface GuardedAgentOptions extends ConnectLimits {
  /** Open connections per origin; unlimited unless set, for callers that limit themselves. */
  readonly connectionsPerOrigin?: number;
  readonly tls?: TlsOptions;
}

export type { Agent, Dispatcher } from 'undici';

const RESPONSE_HEADERS_BYTES_MAX = 16 * 1024;

type ConnectOptions = buildConnector.Options;
type ConnectCallback = buildConnector.Callback;

/**
 * An agent that dials only addresses which the policy let through. The name is resolved once for each new connection,
 * every answer is checked, and the checked address itself is dialled: no second lookup exists that could answer
 * otherwise. Redirects are not followed.
 */
export function createGuardedAgent(policy: EgressPolicy, options: GuardedAgentOptions = {}): Agent {
  const { timeoutMs, addressesMax } = connectLimits(options);
  const dial = buildConnector({
    ...options.tls,
    timeout: timeoutMs,
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
          const texts = addresses.slice(0, addressesMax).map(({ address }) => address);
          dialFirstOf(connect, texts, callback);
        },
        (error: Error) => callback(error, null),
      );
    },
  });
}
