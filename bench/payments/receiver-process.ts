import { createServer } from 'node:http';

/*
 * What receives webhooks: it answers 200 and remembers when each arrived, on the clock that Postgres stamps commits
 * with. `process.send` gives the port at first, and the arrivals since the last question whenever one is asked for: at
 * once, or when there are as many as the question says.
 */
export interface Arrival {
  id: string;
  /** Milliseconds since 1970, with fractions. */
  at: number;
}

let arrivals: Arrival[] = [];
let awaited: number | null = null;

function tell(): void {
  process.send?.(arrivals);
  arrivals = [];
  awaited = null;
}

const server = createServer((request, response) => {
  const id = request.headers['webhook-id'];
  if (typeof id === 'string') arrivals.push({ id, at: performance.timeOrigin + performance.now() });
  if (arrivals.length === awaited) tell();
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-length': '2' });
    response.end('{}');
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.(server.address()));

process.on('message', (count: number) => {
  awaited = count;
  if (arrivals.length >= count) tell();
});
process.on('disconnect', () => process.exit(0));
