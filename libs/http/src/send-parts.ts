import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/**
 * Sends what is made while it is sent, at the pace of whoever reads it. To a HEAD nothing is made: the framework would read it all
 * to its end, as fast as it comes, for a caller who is answered at once.
 */
export function sendParts(reply: FastifyReply, parts: AsyncIterable<string | Uint8Array>): FastifyReply {
  return reply.send(Readable.from(reply.request.method === 'HEAD' ? [] : parts, { objectMode: false }));
}
