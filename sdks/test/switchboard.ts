// An address that stays while the servers behind it come and go: a restart, as a client sees it.
import net, { type AddressInfo } from 'node:net';

export interface Switchboard {
  url: string;
  /** Cuts everything, and refuses until there is a server again. */
  disconnect(): void;
  connect(target: string): void;
  close(): Promise<void>;
}

export async function startSwitchboard(): Promise<Switchboard> {
  const sockets = new Set<net.Socket>();
  let target: URL | undefined;
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    if (target === undefined) {
      socket.destroy();
      return;
    }
    const onward = net.connect(Number(target.port), target.hostname);
    onward.on('error', () => socket.destroy());
    onward.once('close', () => socket.destroy());
    socket.once('close', () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  });
  const disconnect = () => {
    target = undefined;
    for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    disconnect,
    connect(next) {
      target = new URL(next);
    },
    async close() {
      disconnect();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
