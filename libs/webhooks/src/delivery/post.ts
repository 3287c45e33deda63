import type { Dispatcher } from '@libs/egress';
import type { TryOutcome } from './schedule.ts';

export interface PostRequest {
  readonly origin: string;
  readonly path: string;
  readonly headers: string[];
  readonly body: Buffer;
}

/** Enough of an answer to let a connection be used again; a longer one costs its connection. */
const RESPONSE_BYTES_MAX = 16 * 1024;

const ERROR_LENGTH_MAX = 200;

/** Of an answer that is no success: enough to see what went wrong there. */
const KEPT_BYTES_MAX = 500;

class ExchangeEnded extends Error {
  override readonly name = 'ExchangeEnded';
}

/** One line for the owner of the endpoint: a code where there is one, and no address that a name was resolved to. */
function describeError(error: Error & { code?: string }): string {
  const { code } = error;
  if (code === 'EGRESS_REFUSED') return `address refused: ${error.message}`.slice(0, ERROR_LENGTH_MAX);
  if (code === 'EGRESS_UNRESOLVED') return 'the name does not resolve';
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'connecting timed out';
  if (code === 'UND_ERR_SOCKET' || code === 'ECONNRESET')
    return 'the connection was closed before the answer';
  if (code === 'ECONNREFUSED') return 'the connection was refused';
  return (code === undefined ? error.message : `connection error ${code}`).slice(0, ERROR_LENGTH_MAX);
}

function describeStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return `answered ${status}; redirects are not followed`;
  return `answered ${status}`;
}

/** Text that the database can hold, whatever the bytes are; a character that was cut in two goes. */
function readable(parts: readonly Buffer[]): string {
  return Buffer.concat(parts)
    .toString('utf8')
    .replaceAll('\0', '')
    .replace(/\uFFFD+$/, '');
}

/**
 * One POST and its answer. Works on the dispatcher itself, because streams and promises per request cost as much as
 * the exchange; `onDone` is called exactly once.
 */
export class Post implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined;
  #status: number | null = null;
  #retryAfter: string | null = null;
  #bytes = 0;
  readonly #kept: Buffer[] = [];
  #done = false;
  readonly #onDone: (outcome: TryOutcome) => void;

  constructor(onDone: (outcome: TryOutcome) => void) {
    this.#onDone = onDone;
  }

  start(agent: Dispatcher, request: PostRequest): void {
    try {
      agent.dispatch(
        {
          origin: request.origin,
          path: request.path,
          method: 'POST',
          headers: request.headers,
          body: request.body,
          // The sender's own time-out covers the whole exchange.
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        this,
      );
    } catch (error) {
      this.#finish(describeError(error as Error));
    }
  }

  /** Ends the exchange from our side, also while it still waits for a connection. */
  cancel(error: string): void {
    this.#finish(error);
    this.#controller?.abort(new ExchangeEnded(error));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#done) controller.abort(new ExchangeEnded('given up while it waited for a connection'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx comes before the answer.
    if (status < 200) return;
    this.#status = status;
    const retryAfter = headers['retry-after'];
    if (typeof retryAfter === 'string') this.#retryAfter = retryAfter;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bytes < KEPT_BYTES_MAX && describeStatus(this.#status ?? 0) !== null)
      this.#kept.push(chunk.subarray(0, KEPT_BYTES_MAX - this.#bytes));
    this.#bytes += chunk.length;
    if (this.#bytes <= RESPONSE_BYTES_MAX) return;
    // The status has been given, and that is all an answer says.
    this.#finish(null);
    controller.abort(new ExchangeEnded('the answer is too long'));
  }

  onResponseEnd(): void {
    this.#finish(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish(describeError(error));
  }

  #finish(error: string | null): void {
    if (this.#done) return;
    this.#done = true;
    const status = this.#status;
    this.#onDone({
      status,
      error: error ?? (status === null ? 'no answer' : describeStatus(status)),
      retryAfter: this.#retryAfter,
      ...(this.#kept.length === 0 ? {} : { response: readable(this.#kept) }),
    });
  }
}
