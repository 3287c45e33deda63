import type { IncomingMessage } from 'node:http';
import type { Drain } from '@libs/runtime';
import { type AppError, baseErrors, parseTraceparent } from '@libs/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { checkEncoding } from '../input/validation.ts';
import type { AccessLog } from './access-log.ts';
import type { AllowedMethods } from './allowed-methods.ts';
import type { DurationHistogram } from './durations.ts';
import { RequestLogger } from './request-logger.ts';
import type { HostCheck } from './same-origin.ts';
import { type BaseHeaders, setBaseHeaders } from './security-headers.ts';

/** The first hook of every request: headers that all answers carry, and the refusals that need no route. */
export function requestGate(parts: {
  headers: BaseHeaders;
  drain: Drain;
  allowed: AllowedMethods;
  durations: DurationHistogram;
  accessLog: AccessLog | undefined;
  /** Undefined: every host. */
  isHost: HostCheck | undefined;
}): (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void {
  const { headers, drain, allowed, isHost } = parts;
  const observeUnmatched = parts.durations.forRoute('unmatched', 'ANY');
  const writeUnmatched = parts.accessLog?.forRoute('ANY', 'unmatched');
  return (request, reply, done) => {
    const { raw } = request;
    reply.header('x-request-id', request.id);
    const { traceparent } = raw.headers;
    if (traceparent !== undefined && request.log instanceof RequestLogger)
      request.log.traceparent = traceparent;
    setBaseHeaders(reply, headers);
    try {
      if (drain.isLeaving) {
        if (request.routeOptions.config.whileDraining !== true) drain.countArrival();
        if (drain.isDraining) refuseWhileDraining(request, reply);
      }
      if (raw.headers.host === undefined && raw.httpVersionMinor === 1) {
        throw baseErrors.bad_request({ detail: 'The Host header is missing.' });
      }
      if (isHost !== undefined && !isHostAccepted(request, isHost)) throw baseErrors.host_not_accepted();
      if (request.is404) {
        const error = unmatched(raw, allowed);
        observeUnmatched(error.status, 0);
        const trace = parseTraceparent(raw.headers.traceparent);
        writeUnmatched?.({ requestId: request.id, trace, status: error.status, durationMs: 0 });
        throw error;
      }
      const url = raw.url as string;
      if (url.includes('%')) checkEncoding(url, request.query as Record<string, unknown>);
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  };
}

function refuseWhileDraining(request: FastifyRequest, reply: FastifyReply): void {
  reply.raw.shouldKeepAlive = false;
  reply.header('connection', 'close');
  if (request.routeOptions.config.whileDraining !== true)
    throw baseErrors.shutting_down({ retryAfterSeconds: 1 });
}

/** Before the body is read: a path that does not exist must not complain about the body sent to it. */
function unmatched(raw: IncomingMessage, allowed: AllowedMethods): AppError {
  const methods = allowed.of(raw.url as string);
  if (methods.length === 0) return baseErrors.not_found();
  return baseErrors.method_not_allowed({ headers: { allow: methods.join(', ') } });
}

function isHostAccepted(request: FastifyRequest, isHost: HostCheck): boolean {
  const { headers, socket } = request.raw;
  return isHost(headers.host ?? '', socket.localPort) || request.routeOptions.config?.whileDraining === true;
}
