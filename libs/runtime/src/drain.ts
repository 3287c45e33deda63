import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  type Server,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as afterReading, setTimeout as sleep } from 'node:timers/promises';

export const DRAIN_TIMEOUT_MS = 20_000;
/** A request that was on its way when the signal came has arrived by then. */
const QUIET_MS = 50;
/** Proxies ask a server every second or so whether it is ready; whoever goes on sending after this is refused. */
const LEAVING_MAX_MS = 3_000;
/** Whoever asks on for so long whether the server is ready, until lately, sends requests here by it; who waits for its start asks once more. */
const WATCHED_AFTER_MS = 500;
const WATCHED_LATELY_MS = 10_000;

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];
type ResponseClass = typeof ServerResponse;

/**
 * The switch that turns a server off, in two steps. First it leaves: it is not ready any more and every answer closes its
 * connection, also the answers to requests that were open already, but whoever does not know yet is served. Then it
 * drains: new requests are refused, and the `signal` tells long answers (event streams) to end.
 */
export class Drain {
  readonly #abort = new AbortController();
  readonly #nowMs: () => number;
  #leaving = false;
  #draining = false;
  #arrived = 0;
  /** When somebody was told first and last that the server is ready, without a long pause in between. */
  #toldReadyMs = { first: Number.NEGATIVE_INFINITY, last: Number.NEGATIVE_INFINITY };
  /** Somebody watches who was not told yet that the server leaves. */
  #isAwaited = false;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

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

  /** Whoever asks whether the server is ready is told so, or that it leaves. */
  noteReadiness(): void {
    if (this.#leaving) {
      // What was sent before this was heard is still on its way.
      if (this.#isAwaited) this.#arrived += 1;
      this.#isAwaited = false;
      return;
    }
    const last = this.#nowMs();
    const isGoingOn = last - this.#toldReadyMs.last <= WATCHED_LATELY_MS;
    this.#toldReadyMs = { first: isGoingOn ? this.#toldReadyMs.first : last, last };
  }

  #isWatched(): boolean {
    const { first, last } = this.#toldReadyMs;
    return last - first >= WATCHED_AFTER_MS && this.#nowMs() - last <= WATCHED_LATELY_MS;
  }

  /**
   * Resolves when nobody sends any more, so that no idle connection is closed under a request that is on its way. A proxy
   * that asks every second whether the server is ready hears first that it is not: little may be sent, and still to here.
   */
  async leave(): Promise<void> {
    this.#isAwaited = this.#isWatched();
    this.#leaving = true;
    for (let waitedMs = 0; waitedMs < LEAVING_MAX_MS; waitedMs += QUIET_MS) {
      const arrived = this.#arrived;
      await sleep(QUIET_MS);
      // A process that was held up reads what has arrived meanwhile before it looks.
      await afterReading();
      if (this.#arrived === arrived && !this.#isAwaited) return;
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

/** The open connections of a server; noting them costs something per connection, nothing per request. */
export function watchConnections(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return open;
}

/** Whether a whole request came whose answer is not written yet. Node keeps no list of those; it notes the answer at its socket. */
function isAnswering(socket: Socket & { _httpMessage?: ServerResponse<IncomingMessage> | null }): boolean {
  return socket._httpMessage?.req.complete === true;
}

/**
 * Waits for `closing`; connections that are still open at the end of the time are cut. Those that have not sent a whole
 * request by `unfinishedMs` are cut then: Node stops to time them when a server closes, and browsers open some in advance.
 */
export async function closeWithin(
  server: Server,
  closing: Promise<unknown>,
  options: { timeoutMs: number; unfinishedMs: number; connections: ReadonlySet<Socket> },
): Promise<void> {
  const cutUnfinished = () => {
    for (const socket of options.connections) if (!isAnswering(socket)) socket.destroy();
  };
  const timers = [
    setTimeout(cutUnfinished, options.unfinishedMs),
    setTimeout(() => server.closeAllConnections(), options.timeoutMs),
  ];
  try {
    await closing;
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
}
