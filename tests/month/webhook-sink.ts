import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Takes webhooks and remembers which events came; tens of thousands of bodies would be too many to keep. */
export interface WebhookSink {
  url: string;
  events: ReadonlySet<string>;
  stop(): Promise<void>;
}

export async function startWebhookSink(): Promise<WebhookSink> {
  const events = new Set<string>();
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      events.add(String(request.headers['webhook-id']));
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((started) => server.listen(0, '127.0.0.1', started));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    events,
    async stop() {
      server.closeAllConnections();
      await new Promise((stopped) => server.close(stopped));
    },
  };
}
