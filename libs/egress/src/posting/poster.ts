import type { Socket } from 'node:net';
import { KEEP_ALIVE_MS } from '../connecting.ts';
import type { EgressPolicy } from '../policy.ts';
import { AnswerFault, AnswerReader } from './answer.ts';
import { createDialler, type Dialler, type DialOptions } from './dial.ts';

export interface PostRequest {
  readonly origin: string;
  readonly path: string;
  /** Names and values in turns, without those of the connection and of the body's length. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** As much of the answer as had come when the exchange ended. */
export interface PostAnswer {
  readonly status: number | null;
  readonly retryAfter: string | null;
  /** How the body of an answer that is no success begins. */
  readonly kept: readonly Buffer[];
}

export interface Posting {
  /** Ends the exchange from our side, also while it waits for a connection. */
  abort(error: Error): void;
}

export interface Poster {
  /** `onDone` is called exactly once: with no error where the answer came, as far as it is read. */
  post(request: PostRequest, onDone: (error: Error | null, answer: PostAnswer) => void): Posting;
  /** Ends all connections; what is under way fails. */
  destroy(): void;
}

/** A server that says how long it keeps a connection counts from when it sent that, and closes it some time after. */
const KEEP_ALIVE_MARGIN_MS = 2_000;
const SWEEP_MS = 1_000;
const ORIGINS_MAX = 4_096;
/** Bytes that a head may not hold: a line break would begin another field, or another request. */
const NOT_IN_HEAD = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * Sends messages to servers that strangers name, and reads of their answers what a sender of messages wants to know. For a
 * webhook undici's general client costs 40 µs of processor time, this one 18: a request is one write, an answer is read
 * where it lies, and no stream, promise or timer is made for either (measured with 64 connections on loopback; every other
 * call of the products is seldom enough for the library). Redirects are answers, and nothing is sent twice.
 */
export function createPoster(policy: EgressPolicy, options: DialOptions = {}): Poster {
  const dialler = createDialler(policy, options);
  const origins = new Map<string, Origin>();
  let sweeper: NodeJS.Timeout | undefined;

  function originOf(text: string): Origin {
    const known = origins.get(text);
    if (known !== undefined) return known;
    if (origins.size >= ORIGINS_MAX) forgetUnused(origins);
    const origin = new Origin(text, dialler);
    origins.set(text, origin);
    return origin;
  }

  /** One timer for all connections; it rests while none is open. */
  function sweepLater(): void {
    sweeper ??= setTimeout(() => {
      sweeper = undefined;
      const nowMs = performance.now();
      let open = 0;
      for (const origin of origins.values()) open += origin.closeIdle(nowMs);
      if (open > 0) sweepLater();
    }, SWEEP_MS).unref();
  }

  return {
    post(request, onDone) {
      const exchange = new Exchange(onDone);
      const origin = originOf(request.origin);
      const message = messageOf(request, origin.host);
      sweepLater();
      const connection = origin.takeIdle();
      if (connection !== undefined) connection.carry(exchange, message);
      else
        origin.connect().then(
          (fresh) => (exchange.isOver ? fresh.rest() : fresh.carry(exchange, message)),
          (error: Error) => exchange.end(error),
        );
      return exchange;
    },
    destroy() {
      clearTimeout(sweeper);
      dialler.destroy();
    },
  };
}

function messageOf({ path, headers, body }: PostRequest, host: string): Buffer {
  let fields = '';
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string;
    const value = headers[at + 1] as string;
    if (NOT_IN_HEAD.test(name) || NOT_IN_HEAD.test(value))
      throw new Error(`the header ${name} cannot be sent`);
    fields += `${name}: ${value}\r\n`;
  }
  if (NOT_IN_HEAD.test(path)) throw new Error('the path cannot be sent');
  const head = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${fields}content-length: ${body.length}\r\n\r\n`;
  const message = Buffer.allocUnsafe(head.length + body.length);
  message.write(head, 'latin1');
  message.set(body, head.length);
  return message;
}

/** One POST and its answer. */
class Exchange implements Posting {
  readonly #reader = new AnswerReader();
  readonly #onDone: (error: Error | null, answer: PostAnswer) => void;
  /** While one carries it. */
  connection: Connection | undefined;
  isOver = false;

  constructor(onDone: (error: Error | null, answer: PostAnswer) => void) {
    this.#onDone = onDone;
  }

  get keepsOpenMs(): number | null {
    return this.#reader.keepsOpenMs;
  }

  /** Whether the answer is over with these bytes. Throws where they are none. */
  read(bytes: Buffer): boolean {
    return this.#reader.read(bytes) !== 'more';
  }

  abort(error: Error): void {
    this.connection?.close();
    this.end(error);
  }

  /** The other side closed the connection, or it failed. */
  cut(error: Error | null): void {
    try {
      if (error === null) this.#reader.end();
      this.end(error);
    } catch (fault) {
      this.end(fault as Error);
    }
  }

  end(error: Error | null): void {
    if (this.isOver) return;
    this.isOver = true;
    this.connection = undefined;
    this.#onDone(error, this.#reader);
  }
}

/** The connections to one place. */
class Origin {
  readonly host: string;
  readonly #place: { readonly protocol: string; readonly hostname: string; readonly port: string };
  readonly #dialler: Dialler;
  /** The one that was used last is taken first, so that those which are not needed grow old. */
  readonly #idle: Connection[] = [];
  #open = 0;

  constructor(text: string, dialler: Dialler) {
    const { host, protocol, hostname, port } = new URL(text);
    this.host = host;
    this.#place = { protocol, hostname, port };
    this.#dialler = dialler;
  }

  get isUsed(): boolean {
    return this.#open > 0;
  }

  takeIdle(): Connection | undefined {
    return this.#idle.pop();
  }

  async connect(): Promise<Connection> {
    this.#open += 1;
    try {
      const connection = new Connection(this);
      await connection.open((onBytes) => this.#dialler.dial(this.#place, onBytes));
      return connection;
    } catch (error) {
      this.#open -= 1;
      throw error;
    }
  }

  keep(connection: Connection): void {
    this.#idle.push(connection);
  }

  /** It is closed. */
  forget(connection: Connection): void {
    this.#open -= 1;
    const place = this.#idle.indexOf(connection);
    if (place !== -1) this.#idle.splice(place, 1);
  }

  /** Closes what nobody has used for too long, and answers how many are open. */
  closeIdle(nowMs: number): number {
    for (const connection of [...this.#idle]) if (connection.idleUntilMs <= nowMs) connection.close();
    return this.#open;
  }
}

function forgetUnused(origins: Map<string, Origin>): void {
  for (const [text, origin] of origins) if (!origin.isUsed) origins.delete(text);
}

/** A socket, which carries one exchange at a time. */
class Connection {
  readonly #origin: Origin;
  #socket: Socket | undefined;
  #exchange: Exchange | undefined;
  idleUntilMs = Number.POSITIVE_INFINITY;

  constructor(origin: Origin) {
    this.#origin = origin;
  }

  async open(dial: (onBytes: (bytes: Buffer) => void) => Promise<Socket>): Promise<void> {
    const socket = await dial((bytes) => this.#read(bytes));
    // It may have ended between being connected and being handed over.
    if (socket.destroyed) throw new AnswerFault('the connection was closed before the answer');
    this.#socket = socket;
    socket.on('error', (error) => this.#lose(error));
    socket.on('end', () => this.#lose(null));
    socket.on('close', () => this.#lose(null));
  }

  carry(exchange: Exchange, message: Buffer): void {
    this.#exchange = exchange;
    exchange.connection = this;
    this.#socket?.write(message);
  }

  close(): void {
    this.#exchange = undefined;
    this.#lose(null);
  }

  /** Nobody needs it now; the next exchange may. */
  rest(keepsOpenMs: number = Number.POSITIVE_INFINITY): void {
    const forMs = Math.min(KEEP_ALIVE_MS, keepsOpenMs - KEEP_ALIVE_MARGIN_MS);
    // A request that has not left yet, though it is answered, would stand in front of the next one.
    const isFree = this.#socket !== undefined && !this.#socket.destroyed && this.#socket.writableLength === 0;
    if (forMs <= 0 || !isFree) this.close();
    else {
      this.idleUntilMs = performance.now() + forMs;
      this.#origin.keep(this);
    }
  }

  #read(bytes: Buffer): void {
    const exchange = this.#exchange;
    // Nobody asked: whatever it is, it must not be taken for the next answer.
    if (exchange === undefined) {
      this.close();
      return;
    }
    try {
      if (!exchange.read(bytes)) return;
    } catch (error) {
      this.close();
      exchange.end(error as Error);
      return;
    }
    this.#exchange = undefined;
    if (exchange.keepsOpenMs === null) this.close();
    else this.rest(exchange.keepsOpenMs);
    exchange.end(null);
  }

  /** Once: whatever tells of it first. */
  #lose(error: Error | null): void {
    const socket = this.#socket;
    const exchange = this.#exchange;
    this.#exchange = undefined;
    if (socket !== undefined) {
      this.#socket = undefined;
      socket.destroy();
      this.#origin.forget(this);
    }
    exchange?.cut(error);
  }
}
