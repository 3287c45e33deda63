import { createConnection, createServer, type Socket } from 'node:net';

/** A line to a server on this machine, as through a firewall that may forget it: then nothing comes through, and nobody is told. */
export interface DyingLine {
  port: number;
  /** From now on it swallows everything. */
  die(): void;
  close(): Promise<void>;
}

export async function startDyingLine(to: number): Promise<DyingLine> {
  const sockets = new Set<Socket>();
  let isDead = false;
  const pass = (from: Socket, into: Socket): void => {
    sockets.add(from);
    from.on('data', (data) => {
      if (!isDead) into.write(data);
    });
    from.on('error', () => into.destroy());
    from.on('close', () => {
      sockets.delete(from);
      if (!isDead) into.destroy();
    });
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = createConnection({ port: to, host: '127.0.0.1' });
    pass(near, far);
    pass(far, near);
  });
  const { promise: listening, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await listening;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on a port');
  return {
    port: address.port,
    die() {
      isDead = true;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}
