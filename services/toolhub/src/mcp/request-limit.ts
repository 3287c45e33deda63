import type { RateLimit, RateLimits } from '@libs/http';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Asked before a body is read, since reading and parsing it is work by itself: messages of all kinds, and large ones
 * above that. Tool calls have a limit of their own, whose refusal is a result of the protocol.
 */
export interface RequestLimit {
  /** Throws 429. */
  enforce(customerId: string, request: FastifyRequest, reply: FastifyReply): void | Promise<void>;
}

/** A client asks for lists and sends notifications beside its calls. */
const MESSAGES_PER_CALL = 5;
const LARGE_BYTES_MIN = 1024 * 1024;
const LARGE_PER_SECOND = 2;
const LARGE_BURST = 10;

export function createRequestLimit(rates: RateLimits, callsPerSecond: number): RequestLimit {
  const messages: RateLimit = rates.limit({
    name: 'messages',
    limit: callsPerSecond * MESSAGES_PER_CALL,
  });
  const large: RateLimit = rates.limit({
    name: 'large_messages',
    limit: callsPerSecond === 0 ? 0 : LARGE_PER_SECOND,
    burst: LARGE_BURST,
  });
  return {
    enforce(customerId, request, reply) {
      if (messages.isOff) return;
      const first = messages.enforce(customerId, reply);
      if (!mayBeLarge(request)) return first;
      return first instanceof Promise
        ? first.then(() => large.enforce(customerId, reply))
        : large.enforce(customerId, reply);
    },
  };
}

/** A body that does not say how long it is may be as long as any. */
function mayBeLarge({ headers }: FastifyRequest): boolean {
  const length = headers['content-length'];
  return length === undefined || Number(length) >= LARGE_BYTES_MIN;
}
