import type { Readable } from 'node:stream';
import {
  checkUrl,
  createEgressPolicy,
  createGuardedAgent,
  type EgressPolicy,
  EgressRefused,
  EgressUnresolved,
  type ResolveHost,
  resolveGuarded,
} from '@libs/webhooks';
import { type AddressGuard, ConnectorError, type GuardedFetch } from './connector.ts';

const REQUEST_TIMEOUT_MS = 20_000;
const CONNECTIONS_PER_ORIGIN = 32;
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
const BODILESS_STATUS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

export interface EgressOptions {
  /** `host:port` entries that may be private and may go without TLS. */
  allow: readonly string[];
  resolve?: ResolveHost;
}

/** The way out for one platform: every address is checked and the checked one is dialled. */
export interface Egress {
  guard: AddressGuard;
  fetch(signal: AbortSignal): GuardedFetch;
  close(): Promise<void>;
}

export function createEgress(options: EgressOptions): Egress {
  const policy = createEgressPolicy(options);
  const agent = createGuardedAgent(policy, { connectionsPerOrigin: CONNECTIONS_PER_ORIGIN });

  return {
    guard: createGuard(policy),
    fetch:
      (callSignal) =>
      async (url, init = {}) => {
        const target = new URL(url);
        const deadline = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
        try {
          const answer = await agent.request({
            origin: target.origin,
            path: `${target.pathname}${target.search}`,
            method: (init.method ?? 'GET') as 'GET',
            headers: init.headers ?? {},
            body: init.body ?? null,
            signal: AbortSignal.any([callSignal, deadline]),
          });
          const body = await readBounded(answer.body, target.hostname);
          return new Response(BODILESS_STATUS.has(answer.statusCode) ? null : body, {
            status: answer.statusCode,
            headers: Object.entries(answer.headers).flatMap(([name, value]) =>
              [value ?? []].flat().map((one): [string, string] => [name, one]),
            ),
          });
        } catch (error) {
          callSignal.throwIfAborted();
          throw asConnectorError(error, target.hostname);
        }
      },
    close: () => agent.close(),
  };
}

/** Read to its end here, so that no caller can forget to and no connection stays taken. */
async function readBounded(body: Readable, host: string): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop destroys the stream and with it the connection.
    if (bytes > ANSWER_BYTES_MAX) {
      throw new ConnectorError('platform_unavailable', `${host} sent more than ${ANSWER_BYTES_MAX} bytes`);
    }
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

function createGuard(policy: EgressPolicy): AddressGuard {
  return {
    async resolve({ host, port }) {
      try {
        const { address, family, host: name } = await resolveGuarded(host, port, policy);
        return { host: name, port, address, family, mayBePlain: mayBePlain({ host: name, port }, policy) };
      } catch (error) {
        throw asConnectorError(error, host);
      }
    },
  };
}

/** The rule for plain http holds for every protocol: without TLS only where the operator allowed the place. */
function mayBePlain({ host, port }: { host: string; port: number }, policy: EgressPolicy): boolean {
  return checkUrl(`http://${host.includes(':') ? `[${host}]` : host}:${port}/`, policy).ok;
}

function asConnectorError(error: unknown, host: string): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const refusal = findCause(error, (cause) => cause instanceof EgressRefused);
  if (refusal !== undefined) {
    return new ConnectorError('address_refused', `${host} is refused: ${refusal.message}`, { cause: error });
  }
  const detail = error instanceof EgressUnresolved ? 'does not resolve' : 'does not answer';
  return new ConnectorError('platform_unavailable', `${host} ${detail}`, { cause: error });
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
