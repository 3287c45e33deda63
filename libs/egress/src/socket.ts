import { connect, type Socket } from 'node:net';
import type { GuardedPlace } from './resolve.ts';

export interface OpenedSocket {
  /** The connected socket; rejects when the place does not answer in time or the signal aborts. */
  readonly connected: Promise<Socket>;
  /** Ends the socket whatever state it is in. */
  close(): void;
}

export interface OpenSocketOptions {
  readonly timeoutMs: number;
  /** Ends the socket at once, also long after it has connected. */
  readonly signal: AbortSignal;
}

/**
 * For protocols that speak over a socket of ours (IMAP, SMTP, SFTP): the checked address itself is dialled, and a call
 * that is cancelled ends at once.
 */
export function openSocket(place: GuardedPlace, { timeoutMs, signal }: OpenSocketOptions): OpenedSocket {
  const socket = connect({ host: place.address, port: place.port });
  const abort = () => socket.destroy();
  signal.addEventListener('abort', abort, { once: true });
  // What was cancelled while its name was looked up tells nobody any more.
  if (signal.aborted) abort();
  return {
    connected: connected(socket, timeoutMs),
    close() {
      signal.removeEventListener('abort', abort);
      socket.destroy();
    },
  };
}

function connected(socket: Socket, timeoutMs: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  socket.setTimeout(timeoutMs, () =>
    socket.destroy(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })),
  );
  socket.once('connect', () => resolve(socket));
  socket.once('error', reject);
  socket.once('close', () => reject(new Error('the connection was closed')));
  return promise.finally(() => {
    socket.setTimeout(0);
    socket.removeAllListeners();
    // Errors from here on reach the protocol's own listener; this one keeps the moment in between safe.
    socket.on('error', () => {});
  });
}
