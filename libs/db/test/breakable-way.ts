import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to the database that can fall silent, as a cable that is pulled does: nobody is told. Or be cut, for all to see. */
export async function openBreakableWay(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl);
  let isSilent = false;
  let isCut = false;
  let refused = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (isCut) {
      refused += 1;
      client.destroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      const silent = isSilent;
      from.on('data', (chunk) => {
        if (!isSilent && !silent) to.write(chunk);
      });
      from.on('error', () => {});
      from.on('close', () => {
        if (!isSilent) to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    silence: (silent: boolean) => (isSilent = silent),
    cut(cut: boolean) {
      isCut = cut;
      if (cut) destroyAll();
    },
    /** How many came while it was cut. */
    refused: () => refused,
    async close() {
      destroyAll();
      server.close();
    },
  };
}
