import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import type SftpClient from 'ssh2-sftp-client';
import type { SftpPlace } from './sftp-place.ts';

export interface SftpOptions {
  place: SftpPlace;
  privateKeyPath?: string | undefined;
  /** `SHA256:…`, as `ssh-keygen -l` prints it. A server with another key is not our bank. Null only in development. */
  hostKeyFingerprint: string | null;
  /** How long it may take until the server speaks SFTP. */
  openMs?: number;
}

const READY_TIMEOUT_MS = 20_000;
const OPEN_MS = 40_000;
/** How long we wait for the server to take leave. */
const END_MS = 1_000;
const KEEPALIVE_MS = 10_000;
const KEEPALIVES_MISSED_MAX = 3;
/** Longer than the largest file takes on a slow line. */
const WORK_MS_MAX = 180_000;
/** A round of work is several calls; one connection serves them. */
const IDLE_MS = 5_000;

/** The bank's server cannot be reached, refuses us, or stopped answering. The message names no secret. */
export class SftpUnreachable extends Error {
  override readonly name = 'SftpUnreachable';
}

function isHostKey(key: Buffer, fingerprint: string): boolean {
  const actual = createHash('sha256').update(key).digest('base64').replace(/=+$/, '');
  return `SHA256:${actual}` === fingerprint.replace(/=+$/, '');
}

interface Line {
  client: SftpClient;
  sock: Socket;
}

async function connect(options: SftpOptions): Promise<Line> {
  const { place, privateKeyPath, hostKeyFingerprint, openMs = OPEN_MS } = options;
  // Read where a bank is asked: it is a twentieth of the start of every process, and few speak with one.
  const { default: Client } = await import('ssh2-sftp-client');
  const { host, port, username, password } = place;
  const privateKey = privateKeyPath === undefined ? undefined : await readFile(privateKeyPath);
  // The protocol is many small questions: with the usual delay of small packets each would cost 40 ms.
  const sock = createConnection({ host, port, noDelay: true });
  // Events between two calls need no handling: the next call finds the connection gone and says so.
  const client = new Client('ach', {});
  // The time-out of the library ends when we are let in, and what is behind a gateway may never begin to speak.
  const patience = setTimeout(
    () => sock.destroy(new Error('it lets us in and does not begin to speak SFTP')),
    openMs,
  );
  try {
    await client.connect({
      sock,
      username,
      ...(password === null ? {} : { password }),
      ...(privateKey === undefined ? {} : { privateKey }),
      readyTimeout: READY_TIMEOUT_MS,
      keepaliveInterval: KEEPALIVE_MS,
      keepaliveCountMax: KEEPALIVES_MISSED_MAX,
      hostVerifier: (key) => hostKeyFingerprint === null || isHostKey(key, hostKeyFingerprint),
    });
    return { client, sock };
  } catch (error) {
    sock.destroy();
    const detail = error instanceof Error ? error.message : String(error);
    throw new SftpUnreachable(`the bank's server ${host} cannot be used: ${detail}`, { cause: error });
  } finally {
    clearTimeout(patience);
  }
}

/** One connection that is opened when it is needed, shared by calls that follow each other, and closed when idle. */
export class SftpConnection {
  readonly #options: SftpOptions;
  #line: Line | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Calls wait for each other: a connection does one thing at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: SftpOptions) {
    this.#options = options;
  }

  use<T>(work: (client: SftpClient) => Promise<T>): Promise<T> {
    const run = this.#last.then(() => this.#run(work));
    this.#last = run.catch(() => undefined);
    return run;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#drop();
  }

  async #run<T>(work: (client: SftpClient) => Promise<T>): Promise<T> {
    clearTimeout(this.#timer);
    this.#line ??= await connect(this.#options);
    const { client } = this.#line;
    let patience: NodeJS.Timeout | undefined;
    const tooLong = new Promise<never>((_, reject) => {
      const error = new SftpUnreachable("the bank's server stopped answering");
      patience = setTimeout(() => reject(error), WORK_MS_MAX);
    });
    try {
      return await Promise.race([work(client), tooLong]);
    } catch (error) {
      // Whatever went wrong, the next call begins anew.
      await this.#drop();
      throw error;
    } finally {
      clearTimeout(patience);
      if (this.#line) this.#timer = setTimeout(() => void this.#drop(), IDLE_MS).unref();
    }
  }

  async #drop(): Promise<void> {
    clearTimeout(this.#timer);
    const line = this.#line;
    this.#line = undefined;
    if (!line) return;
    // Over a line that is dead nobody takes leave of us.
    const patience = setTimeout(() => line.sock.destroy(), END_MS);
    // A connection that is broken already cannot be ended, and need not be.
    await line.client.end().catch(() => undefined);
    clearTimeout(patience);
  }
}
