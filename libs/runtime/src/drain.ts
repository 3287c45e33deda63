import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  type Server,
  ServerResponse,
} from 'node:http';
import { setImmediate as afterReading, setTimeout as sleep } from 'node:timers/promises';

export const DRAIN_TIMEOUT_MS = 20_000;
/** A request that was on its way when the signal came has arrived by then. */
const QUIET_MS = 50;
/** Proxies ask a server every second or so whether it is ready; whoever goes on sending after this is refused. */
const LEAVING_MAX_MS = 3_000;

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];
type ResponseClass = typeof ServerResponse;

/**
 * The switch that turns a server off, in two steps. First it leaves: it is not ready any more and every answer closes its
 * connection, also the answers to requests that were open already, but whoever does not know yet is served. Then it
 * drains: new requests are refused, and the `signal` tells long answers (event streams) to end.
 */
export class Drain {
  readonly #abort = new AbortController();
  #leaving = false;
  #draining = false;
  #arrived = 0;

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get isLeaving(): boolean {
    return this.#leaving;
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  /** Told of each request that comes while the server leaves. */
  countArrival(): void {
    this.#arrived += 1;
  }

  /** Resolves when nobody sends any more, so that no idle connection is closed under a request that is on its way. */
  async leave(): Promise<void> {
    this.#leaving = true;
    for (let waitedMs = 0; waitedMs < LEAVING_MAX_MS; waitedMs += QUIET_MS) {
      const arrived = this.#arrived;
      await sleep(QUIET_MS);
      // A process that was held up reads what has arrived meanwhile before it looks.
      await afterReading();
      if (this.#arrived === arrived) return;
    }
  }

  begin(): void {
    this.#leaving = true;
    this.#draining = true;
    this.#abort.abort();
  }

  /** The class of the server's responses. It costs one comparison per answer; a list of open responses cost more. */
  responseClass(): ResponseClass {
    const isLeaving = (): boolean => this.#leaving;
    class DrainingResponse extends ServerResponse<IncomingMessage> {
      override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
        // Node then writes `connection: close` by itself.
        if (isLeaving()) this.shouldKeepAlive = false;
        return typeof reason === 'string'
          ? super.writeHead(status, reason, headers)
          : super.writeHead(status, reason);
      }
    }
    return DrainingResponse as unknown as ResponseClass;
  }
}

/** Waits for `closing`; connections that are still open at the end of the time are cut. */
export async function closeWithin(
  server: Server,
  closing: Promise<unknown>,
  timeoutMs: number,
): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), timeoutMs);
  try {
    await closing;
  } finally {
    clearTimeout(timer);
  }
}
