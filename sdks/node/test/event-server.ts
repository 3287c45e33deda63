// The part of the API that `listen` needs, by the contract: events that outlive a restart, and their stream.
import http from 'node:http';
import type { AddressInfo } from 'node:net';

interface StoredEvent {
  id: string;
  type: string;
}

export interface EventServer {
  url: string;
  /** Something happens. */
  emit(number: number): void;
  /** The server goes away, and its connections with it; events happen on. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const idOf = (number: number) => `evt_${String(number).padStart(6, '0')}`;

export async function startEventServer(options: { date?: () => string } = {}): Promise<EventServer> {
  const events: StoredEvent[] = [];
  const streams = new Set<{ response: http.ServerResponse; sent: string }>();
  let server: http.Server;
  let port = 0;

  const push = (stream: { response: http.ServerResponse; sent: string }) => {
    for (const event of events.filter(({ id }) => id > stream.sent)) {
      stream.response.write(`id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      stream.sent = event.id;
    }
  };

  const answer: http.RequestListener = (request, response) => {
    if (options.date) response.setHeader('date', options.date());
    if (request.url?.startsWith('/v1/events/stream')) {
      const after = (request.headers['last-event-id'] as string) ?? events.at(-1)?.id ?? '';
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': here\n\n');
      const stream = { response, sent: after };
      streams.add(stream);
      response.once('close', () => streams.delete(stream));
      push(stream);
      return;
    }
    const data = [...events].reverse().slice(0, 100);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', data, next_cursor: null }));
  };

  const start = async () => {
    server = http.createServer(answer);
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  };
  await start();
  return {
    url: `http://127.0.0.1:${port}`,
    emit(number) {
      const data = { id: `pay_${number}`, object: 'payment', description: 'Zoë 東京' };
      const times = { timestamp: '2026-11-15T12:00:00.000Z', created_at: '2026-11-15T12:00:00.000Z' };
      const event = {
        id: idOf(number),
        object: 'event',
        type: 'payment.completed',
        mode: 'test',
        ...times,
        data,
      };
      events.push(event);
      for (const stream of streams) push(stream);
    },
    start,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
