// A receiver of webhooks: a real HTTP server that remembers what came and answers as it is told.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into freely by the tests.
  body: any;
}

export type Respond = (response: ServerResponse, received: Received) => void;

export interface Receiver {
  url: string;
  received: Received[];
  /** What came to one path, in order. */
  at(path: string): Received[];
  respond: Respond;
  stop(): Promise<void>;
}

export const answer =
  (status: number, headers: Record<string, string> = {}): Respond =>
  (response) => {
    response.writeHead(status, headers).end('ok');
  };

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const one = { path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) };
      received.push(one);
      receiver.respond(response, one);
    });
  });
  await new Promise<void>((started) => server.listen(0, '127.0.0.1', started));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    at: (path) => received.filter((one) => one.path === path),
    respond: answer(204),
    async stop() {
      server.closeAllConnections();
      await new Promise((stopped) => server.close(stopped));
    },
  };
  return receiver;
}
