import { createServer } from 'node:http';

/** Answers every POST with 204 and tells its parent when the count that it waits for is reached. */
let count = 0;
let wanted = Number.POSITIVE_INFINITY;
const server = createServer((request, response) => {
  request.on('data', () => {});
  request.on('end', () => {
    response.writeHead(204).end();
    count += 1;
    if (count >= wanted) {
      wanted = Number.POSITIVE_INFINITY;
      process.send?.({ reached: count });
    }
  });
});
server.keepAliveTimeout = 60_000;
process.on('message', (message: { wait: number }) => {
  count = 0;
  wanted = message.wait;
  process.send?.({ ready: true });
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as { port: number }).port });
});
process.once('disconnect', () => process.exit(0));
