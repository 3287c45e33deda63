import type { PostAnswer, Poster, Posting, PostRequest } from '@libs/egress';
import type { TryOutcome } from './schedule.ts';

const ERROR_LENGTH_MAX = 200;

const NO_ANSWER: PostAnswer = { status: null, retryAfter: null, kept: [] };

/** One line for the owner of the endpoint: a code where there is one, and no address that a name was resolved to. */
function describeError(error: Error & { code?: string }, status: number | null): string {
  const { code } = error;
  if (code === 'EGRESS_REFUSED') return `address refused: ${error.message}`.slice(0, ERROR_LENGTH_MAX);
  if (code === 'EGRESS_UNRESOLVED') return 'the name does not resolve';
  if (code === 'ETIMEDOUT') return 'connecting timed out';
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return `the connection was closed before the ${status === null ? '' : 'end of the '}answer`;
  if (code === 'ECONNREFUSED') return 'the connection was refused';
  return (code === undefined ? error.message : `connection error ${code}`).slice(0, ERROR_LENGTH_MAX);
}

function describeStatus(status: number | null): string | null {
  if (status === null) return 'no answer';
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

/** One try of a delivery: `onDone` is called exactly once. */
export class Post {
  readonly #onDone: (outcome: TryOutcome) => void;
  #posting: Posting | undefined;
  #isDone = false;

  constructor(onDone: (outcome: TryOutcome) => void) {
    this.#onDone = onDone;
  }

  start(poster: Poster, request: PostRequest): void {
    this.#posting = poster.post(request, (error, answer) => this.#finish(error, answer));
  }

  /** Ends the exchange from our side, also while it still waits for a connection, or never began. */
  cancel(error: string): void {
    this.#posting?.abort(new Error(error));
    this.#finish(new Error(error), NO_ANSWER);
  }

  #finish(error: Error | null, { status, retryAfter, kept }: PostAnswer): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#onDone({
      status,
      error: error === null ? describeStatus(status) : describeError(error, status),
      retryAfter,
      ...(kept.length === 0 ? {} : { response: readable(kept) }),
    });
  }
}
