import { baseErrors, parseTraceparent } from '@libs/runtime';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { TSchema } from 'typebox';
import { takesEmptyBody } from '../input/validation.ts';
import type { AccessLog } from './access-log.ts';
import type { DurationHistogram } from './durations.ts';

/** Per route: its series in the metrics and its line in the log are prepared once. */
export function observeRoute(
  route: RouteOptions,
  parts: { durations: DurationHistogram; accessLog: AccessLog | undefined },
): void {
  const isHealth = route.config?.whileDraining === true;
  const watchers = new Map(
    [route.method].flat().map((method) => {
      const writeLine = isHealth ? undefined : parts.accessLog?.forRoute(method, route.url);
      return [method, { observe: parts.durations.forRoute(route.url, method), writeLine }];
    }),
  );
  const onResponse = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const watcher = watchers.get(request.method);
    const durationMs = reply.elapsedTime;
    watcher?.observe(reply.statusCode, durationMs);
    watcher?.writeLine?.({
      requestId: request.id,
      trace: parseTraceparent(request.raw.headers.traceparent),
      status: reply.statusCode,
      durationMs,
    });
    done();
  };
  route.onResponse = [route.onResponse ?? [], onResponse].flat() as NonNullable<RouteOptions['onResponse']>;
}

/** An endpoint with a body schema gets a body: the one sent, or an empty object where that would do. */
export function requireBody(route: RouteOptions): void {
  const schema = (route.schema as { body?: TSchema & { content?: unknown } } | undefined)?.body;
  if (schema === undefined || schema.content !== undefined) return;
  const optional = takesEmptyBody(schema);
  const preValidation = (
    request: FastifyRequest,
    _reply: FastifyReply,
    done: (error?: Error) => void,
  ): void => {
    if (request.body !== undefined) {
      done();
    } else if (optional) {
      request.body = {};
      done();
    } else {
      done(baseErrors.invalid_json({ detail: 'The body is empty; this endpoint needs JSON.' }));
    }
  };
  route.preValidation = [preValidation, route.preValidation ?? []].flat() as NonNullable<
    RouteOptions['preValidation']
  >;
}

/** A route that nobody decided about is a bug, which shows at the start and not when a stranger finds it. */
export function requireDeclared(route: RouteOptions): void {
  if (route.config?.declared !== undefined || route.config?.catchAll === true) return;
  throw new TypeError(
    `${[route.method].flat().join(' ')} ${route.url} states no access, rate, audit and idempotency`,
  );
}
