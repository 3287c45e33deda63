import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/*
 * A connection over TCP that the tests hold in their hand: it can be cut, be slow, lead nowhere for a while, and be looked into.
 */

/** Where the wire leads; asked for each connection, so that a server may come back elsewhere. */
export interface WireEnd {
  host: string;
  port: number;
}

/** Sees what passes on one connection; what it does not let through is gone. */
export interface Inspector {
  letsToServer(chunk: Buffer): boolean;
  letsToClient(chunk: Buffer): boolean;
}

export interface WireOptions {
  to: () => WireEnd;
  inspect?: () => Inspector;
}

export interface Wire {
  port: number;
  /** Ends every connection without a word. */
  cut(): void;
  /** Whether new connections are taken. */
  isOpen: boolean;
  /** How long whatever passes takes. */
  delayMs: number;
  stop(): Promise<void>;
}

export async function startWire({ to, inspect }: WireOptions): Promise<Wire> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (!wire.isOpen) {
      client.destroy();
      return;
    }
    const upstream = connect(to());
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      // A side that is gone takes the other with it; the error says no more than that.
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    const inspector = inspect?.();
    const pass = (to: Socket, lets?: (chunk: Buffer) => boolean) => (chunk: Buffer) => {
      if (lets && !lets(chunk)) return;
      if (wire.delayMs === 0) to.write(chunk);
      else setTimeout(() => to.writable && to.write(chunk), wire.delayMs);
    };
    client.on('data', pass(upstream, inspector?.letsToServer));
    upstream.on('data', pass(client, inspector?.letsToClient));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const wire: Wire = {
    port: (server.address() as AddressInfo).port,
    isOpen: true,
    delayMs: 0,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async stop() {
      wire.isOpen = false;
      wire.cut();
      await new Promise((stopped) => server.close(stopped));
    },
  };
  return wire;
}

/** The same address by way of a wire. */
export function throughWire(url: string, { port }: Pick<Wire, 'port'>): string {
  const address = new URL(url);
  address.host = `127.0.0.1:${port}`;
  return address.href;
}
