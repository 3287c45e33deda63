import { connect as connectPlainly, isIP, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { type ConnectLimits, connectLimits, resolveForConnect, type TlsOptions } from '../connecting.ts';
import type { EgressPolicy } from '../policy.ts';

export interface DialOptions extends ConnectLimits {
  readonly tls?: TlsOptions;
}

/** Where a connection leads, as a URL names it. */
export interface DialledPlace {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: string;
}

export interface Dialler {
  /** A connected socket, in TLS verified; `onBytes` gets what it reads, in memory that is overwritten afterwards. */
  dial(place: DialledPlace, onBytes: (bytes: Buffer) => void): Promise<Socket>;
  /** Ends every socket that was ever dialled, also those that are not connected yet. */
  destroy(): void;
}

const READ_BYTES = 16 * 1024;
const TCP_KEEP_ALIVE_MS = 60_000;
const TLS_SESSIONS_MAX = 100;

interface Target {
  readonly isSecure: boolean;
  readonly host: string;
  readonly address: string;
  readonly port: number;
}

/** Connections whose every address was checked by the guard, and which read without a stream for each of them. */
export function createDialler(policy: EgressPolicy, options: DialOptions = {}): Dialler {
  const { timeoutMs, addressesMax } = connectLimits(options);
  const sockets = new Set<Socket>();
  const sessions = new Map<string, Buffer>();
  // All sockets read into the same memory: what one has read is handed on before another reads.
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  let isDestroyed = false;

  function open(target: Target, onBytes: (bytes: Buffer) => void): Socket {
    const { isSecure, host, address, port } = target;
    const onread = {
      buffer,
      callback(length: number) {
        onBytes(buffer.subarray(0, length));
        return true;
      },
    };
    const common = { host: address, port, onread };
    if (!isSecure) return connectPlainly(common);
    const session = sessions.get(`${host}:${port}`);
    const socket = connectSecurely({
      ...options.tls,
      ...common,
      // The name that is verified; an address stands for itself.
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(session === undefined ? {} : { session }),
      ALPNProtocols: ['http/1.1'],
    });
    socket.on('session', (fresh) => {
      if (sessions.size >= TLS_SESSIONS_MAX) sessions.clear();
      sessions.set(`${host}:${port}`, fresh);
    });
    return socket;
  }

  function connect(target: Target, onBytes: (bytes: Buffer) => void): Promise<Socket> {
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const socket = open(target, onBytes);
    sockets.add(socket);
    socket.setNoDelay(true).setKeepAlive(true, TCP_KEEP_ALIVE_MS);
    const timer = setTimeout(() => {
      socket.destroy(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' }));
    }, timeoutMs);
    socket.once(target.isSecure ? 'secureConnect' : 'connect', () => resolve(socket));
    // Stays for as long as the socket: an error that nobody listened for would end the process.
    socket.on('error', reject);
    socket.once('close', () => {
      sockets.delete(socket);
      reject(new Error('the connection was closed'));
    });
    return promise.finally(() => clearTimeout(timer));
  }

  return {
    async dial({ protocol, hostname, port }, onBytes) {
      const found = await resolveForConnect({ protocol, hostname, port }, policy);
      let failure: unknown;
      for (const { address } of found.addresses.slice(0, addressesMax)) {
        if (isDestroyed) throw new Error('connections are closed');
        const target = { isSecure: protocol === 'https:', host: found.host, address, port: found.port };
        try {
          return await connect(target, onBytes);
        } catch (error) {
          failure = error;
        }
      }
      throw failure;
    },
    destroy() {
      isDestroyed = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}
