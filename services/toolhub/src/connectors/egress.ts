import {
  AnswerRefused,
  createEgressPolicy,
  createHttpClient,
  type EgressPolicy,
  EgressRefused,
  EgressUnresolved,
  type ResolveHost,
  resolveGuarded,
  resolvePlain,
  StatusRefused,
} from '@libs/egress';
import { type AddressGuard, ConnectorError, type GuardedFetch } from './connector.ts';

const REQUEST_TIMEOUT_MS = 20_000;
const CONNECTIONS_PER_ORIGIN = 32;
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
/** Firewalls in front of many servers take a request without one for an attack (RFC 9110 10.1.5). */
const USER_AGENT = 'Toolhub';

export interface EgressDependencies {
  /** `host:port` entries that may be private and may go without TLS. */
  allow: readonly string[];
  resolve?: ResolveHost;
}

/** Told how far a request came: one that never got a connection has certainly done nothing. */
export interface ExchangeWatch {
  connecting(): void;
  leaving(): void;
}

/** The way out for one platform: every address is checked and the checked one is dialled. */
export interface Egress {
  guard: AddressGuard;
  fetch(signal: AbortSignal, watch?: ExchangeWatch): GuardedFetch;
  close(): Promise<void>;
}

export function createEgress(options: EgressDependencies): Egress {
  const policy = createEgressPolicy(options);
  const client = createHttpClient(policy, {
    timeoutMs: REQUEST_TIMEOUT_MS,
    answerBytesMax: ANSWER_BYTES_MAX,
    connectionsPerOrigin: CONNECTIONS_PER_ORIGIN,
  });

  return {
    guard: createGuard(policy),
    fetch:
      (callSignal, watch) =>
      async (url, init = {}) => {
        let hasLeft = false;
        const onLeaving = () => {
          hasLeft = true;
          watch?.leaving();
        };
        watch?.connecting();
        try {
          const headers = { 'user-agent': USER_AGENT, ...init.headers };
          return await client.request(url, { ...init, headers, signal: callSignal, onLeaving });
        } catch (error) {
          callSignal.throwIfAborted();
          throw asConnectorError(error, new URL(url).hostname, hasLeft);
        }
      },
    close: () => client.close(),
  };
}

function createGuard(policy: EgressPolicy): AddressGuard {
  return {
    async resolve({ host, port, isPlain = false }) {
      try {
        return await (isPlain ? resolvePlain : resolveGuarded)(host, port, policy);
      } catch (error) {
        throw asConnectorError(error, host);
      }
    },
  };
}

function asConnectorError(error: unknown, host: string, outcomeOpen = false): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const refusal = findCause(error, (cause) => cause instanceof EgressRefused);
  if (refusal !== undefined) {
    return new ConnectorError('address_refused', `${host} is refused: ${refusal.message}`, { cause: error });
  }
  if (error instanceof StatusRefused) {
    return new ConnectorError('platform_error', `${host} ${error.message}`, {
      ...{ cause: error, platformCode: String(error.status) },
    });
  }
  if (error instanceof AnswerRefused) {
    return new ConnectorError('platform_unavailable', `${host} ${error.message}`, {
      ...{ cause: error, outcomeOpen },
    });
  }
  const detail = error instanceof EgressUnresolved ? 'does not resolve' : 'does not answer';
  return new ConnectorError('platform_unavailable', `${host} ${detail}`, { cause: error, outcomeOpen });
}

const CAUSES_MAX = 5;

function findCause(error: unknown, matches: (cause: Error) => boolean): Error | undefined {
  let cause = error;
  for (let depth = 0; depth < CAUSES_MAX && cause instanceof Error; depth += 1) {
    if (matches(cause)) return cause;
    cause = cause.cause;
  }
  return undefined;
}
