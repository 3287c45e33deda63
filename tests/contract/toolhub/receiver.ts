// A receiver of webhooks: a real HTTP server that verifies what comes, remembers it, and answers as it is told.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface Received {
  path: string;
  id: string;
  headers: IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies are looked into freely by the tests.
  body: any;
  atMs: number;
}

export type Respond = (response: ServerResponse, received: Received) => void;

export interface Receiver {
  url: string;
  /** `host:port`, as the settings name it. */
  place: string;
  received: Received[];
  /** How requests to a path are answered; 204 unless set. */
  on(path: string, respond: Respond): void;
  at(path: string): Received[];
  stop(): Promise<void>;
}

export const answer =
  (status: number, headers: Record<string, string> = {}): Respond =>
  (response) => {
    response.writeHead(status, headers).end();
  };

export const hang: Respond = () => {};

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const answers = new Map<string, Respond>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const one = {
        path: request.url ?? '',
        id: String(request.headers['webhook-id']),
        headers: request.headers,
        text,
        body: JSON.parse(text),
        atMs: performance.now(),
      };
      received.push(one);
      (answers.get(one.path) ?? answer(204))(response, one);
    });
  });
  await new Promise<void>((started) => server.listen(0, '127.0.0.1', started));
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${place}`,
    place,
    received,
    on: (path, respond) => answers.set(path, respond),
    at: (path) => received.filter((one) => one.path === path),
    async stop() {
      server.closeAllConnections();
      await new Promise((stopped) => server.close(stopped));
    },
  };
}

/** By the package that receivers use; throws where the signature, the time or the body is not right. */
export function verify({ headers, text }: Received, secret: string): unknown {
  return new Webhook(secret).verify(text, headers as Record<string, string>);
}
