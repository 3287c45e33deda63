import { createServer } from 'node:http';
import type { Server } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** Servers of others that go away with all their connections, and come back under the same address. */
export interface VanishingServer {
  vanish(): Promise<void>;
  comeBack(): Promise<void>;
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve());
  });
}

export interface WebhookReceiver extends VanishingServer {
  url: string;
  /** By their ids, however often they came. */
  events: ReadonlySet<string>;
}

export async function startReceiver(port: number): Promise<WebhookReceiver> {
  const events = new Set<string>();
  const open = async () => {
    const server = createServer((request, response) => {
      request.resume().once('end', () => {
        events.add(String(request.headers['webhook-id']));
        response.writeHead(204).end();
      });
    });
    await listen(server, port);
    return server;
  };
  let server = await open();
  return {
    url: `http://127.0.0.1:${port}/events`,
    events,
    async vanish() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
    async comeBack() {
      server = await open();
    },
  };
}

export interface MailServer extends VanishingServer {
  url: string;
  /** To whom mail came. */
  addressees: ReadonlySet<string>;
}

export async function startMailServer(port: number): Promise<MailServer> {
  const addressees = new Set<string>();
  const open = async () => {
    const server = new SMTPServer({
      ...{ authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'], closeTimeout: 100 },
      onData(stream, session, done) {
        stream.resume().once('end', () => {
          for (const { address } of session.envelope.rcptTo) addressees.add(address);
          done();
        });
      },
    });
    // A client that is cut off is what this server is for.
    server.on('error', () => {});
    await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve));
    return server;
  };
  let server = await open();
  return {
    url: `smtp://127.0.0.1:${port}`,
    addressees,
    vanish: () => new Promise((closed) => server.close(() => closed())),
    async comeBack() {
      server = await open();
    },
  };
}
