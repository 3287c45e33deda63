import { createServer } from 'node:http';

/*
 * What receives webhooks: it answers 200 and remembers when each arrived, on the clock that Postgres stamps commits
 * with. `process.send` gives the port at first, and the arrivals since the last question whenever one is asked for.
 */
export interface Arrival {
  id: string;
  /** Milliseconds since 1970, with fractions. */
  at: number;
}

let arrivals: Arrival[] = [];

const server = createServer((request, response) => {
  const id = request.headers['webhook-id'];
  if (typeof id === 'string') arrivals.push({ id, at: performance.timeOrigin + performance.now() });
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-length': '2' });
    response.end('{}');
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.(server.address()));

process.on('message', () => {
  process.send?.(arrivals);
  arrivals = [];
});
process.on('disconnect', () => process.exit(0));
