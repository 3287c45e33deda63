import type { FastifyReply, FastifyRequest, preParsingHookHandler } from 'fastify';
import { idempotencyKeyOf } from '../idempotency/key.ts';
import type { ByMode } from '../tenant.ts';
import { ACCEPT_PATH, type AcceptPlace } from './accept/path.ts';
import {
  type RecentResponse,
  type RecentResponses,
  SENT_BYTES_MAX,
  type SentRequest,
} from './accept/recent.ts';
import { createTurnEnd } from './accept/turn-end.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, where the key was used before. */
    sentBytes: Buffer | null;
  }
}

export interface RepeatsHook {
  /** Answers a request that is, byte for byte, one that was answered before; lets all others pass. */
  readonly preParsing: preParsingHookHandler;
  /** Told of each repeat that was answered in full, so that the next one is known by its bytes. */
  noteAnswered(request: FastifyRequest): void;
}

/**
 * The short way of repeats: equal bytes are an equal body, so nothing is parsed or checked again. Who calls, how often and
 * with which rights has been decided before; what differs in a single byte is read and compared in full.
 */
export function createRepeatsHook(
  recent: ByMode<RecentResponses>,
  answer: (reply: FastifyReply, response: RecentResponse) => void,
): RepeatsHook {
  const atEndOfTurn = createTurnEnd();

  return {
    preParsing(request, reply, payload, done) {
      const known = findKnown(recent, request);
      if (known === undefined) {
        done(null, payload);
        return;
      }
      const { raw } = request;
      raw.once('readable', () => {
        const bytes: Buffer | null = raw.read();
        const isWhole = bytes !== null && bytes.length === lengthOf(request);
        if (isWhole && isSame(request, bytes, known.sent)) {
          request.body = known.sent.body;
          atEndOfTurn(() => answer(reply, known));
          return;
        }
        if (isWhole) request.sentBytes = bytes;
        if (bytes !== null) raw.unshift(bytes);
        done(null, payload);
      });
    },

    noteAnswered(request) {
      const { sentBytes, body } = request;
      const contentType = request.headers['content-type'];
      if (sentBytes === null || contentType === undefined) return;
      // A copy, because what was read is part of a larger piece of memory.
      const sent = { contentType, bytes: Buffer.from(sentBytes), body };
      recent[request.caller.tenant.mode].noteSent(placeOf(request, request.idempotencyKey), sent);
    },
  };
}

function findKnown(recent: ByMode<RecentResponses>, request: FastifyRequest): RecentResponse | undefined {
  const length = lengthOf(request);
  // A key that is missing or bad is refused in its turn.
  if (!(length > 0 && length <= SENT_BYTES_MAX)) return undefined;
  let key: string | undefined;
  try {
    key = idempotencyKeyOf(request);
  } catch {
    return undefined;
  }
  return key === undefined ? undefined : recent[request.caller.tenant.mode].get(placeOf(request, key));
}

function isSame(request: FastifyRequest, bytes: Buffer, sent: SentRequest | undefined): sent is SentRequest {
  return (
    sent !== undefined && request.headers['content-type'] === sent.contentType && bytes.equals(sent.bytes)
  );
}

function lengthOf({ headers }: FastifyRequest): number {
  return Number(headers['content-length'] ?? Number.NaN);
}

function placeOf({ caller }: FastifyRequest, key: string): AcceptPlace {
  return { tenant: caller.tenant, path: ACCEPT_PATH, key };
}
