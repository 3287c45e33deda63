import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly path: string;
  readonly id: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly atMs: number;
}

export type Answer = (request: Received, response: ServerResponse, nth: number) => void;

export interface Receiver {
  readonly url: string;
  readonly place: string;
  readonly received: Received[];
  /** How requests to a path are answered; 200 unless set. */
  on(path: string, answer: Answer): void;
  to(path: string): Received[];
  close(): Promise<void>;
}

/** A real HTTP server that keeps what it gets. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const answers = new Map<string, Answer>();
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const item: Received = {
        path: request.url ?? '',
        id: String(request.headers['webhook-id']),
        headers: request.headers as Record<string, string>,
        body: Buffer.concat(chunks).toString(),
        atMs: performance.now(),
      };
      received.push(item);
      const answer = answers.get(item.path);
      if (answer === undefined) response.end('ok');
      else answer(item, response, received.filter((other) => other.path === item.path).length);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${place}`,
    place,
    received,
    on: (path, answer) => answers.set(path, answer),
    to: (path) => received.filter((item) => item.path === path),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
