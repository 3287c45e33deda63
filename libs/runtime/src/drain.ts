import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  type Server,
  ServerResponse,
} from 'node:http';

export const DRAIN_TIMEOUT_MS = 20_000;

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];
type ResponseClass = typeof ServerResponse;

/**
 * The switch that turns a server off: from then on every answer closes its connection, also the answers to requests
 * that were open already, and the `signal` tells long answers (event streams) to end.
 */
export class Drain {
  readonly #abort = new AbortController();
  #draining = false;

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  begin(): void {
    this.#draining = true;
    this.#abort.abort();
  }

  /** The class of the server's responses. It costs one comparison per answer; a list of open responses cost more. */
  responseClass(): ResponseClass {
    const isDraining = (): boolean => this.#draining;
    class DrainingResponse extends ServerResponse<IncomingMessage> {
      override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
        // Node then writes `connection: close` by itself.
        if (isDraining()) this.shouldKeepAlive = false;
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
