import type { Socket } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import {
  baseErrors,
  closeWithin,
  createLogger,
  createMetrics,
  DRAIN_TIMEOUT_MS,
  Drain,
  type ErrorCatalogue,
  type LogDestination,
  type Logger,
  type LogLevel,
  logDestination,
  type Metrics,
  parseTraceparent,
  runInTrace,
  watchConnections,
} from '@libs/runtime';
import { type FastifyServerOptions, fastify, LogController } from 'fastify';
import type { App } from './app-type.ts';
import { AccessLog } from './edge/access-log.ts';
import { AllowedMethods } from './edge/allowed-methods.ts';
import { clientErrorHandler } from './edge/client-error.ts';
import { registerDurations } from './edge/durations.ts';
import { requestGate } from './edge/gate.ts';
import { type MetricsAccess, registerHealth } from './edge/health.ts';
import { isPersonAtNoAddress, sendNothingHere } from './edge/nothing-here.ts';
import { sendProblem } from './edge/problem.ts';
import { requestIdOf } from './edge/request-id.ts';
import { makeChildrenLazily } from './edge/request-logger.ts';
import { observeRoute, requireBody, requireDeclared } from './edge/route-setup.ts';
import { createHostCheck } from './edge/same-origin.ts';
import { type BaseHeaders, baseHeaders, setBaseHeaders } from './edge/security-headers.ts';
import { parseJson } from './input/json-body.ts';
import { validatorCompiler } from './input/validation.ts';
import type { OpenApiOptions } from './openapi/document.ts';
import { registerOpenApi } from './openapi/routes.ts';
import { serializerCompiler } from './serialization.ts';

export const BODY_LIMIT_BYTES = 64 * 1024;
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 15_000;
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
const PARAM_LENGTH_MAX = 512;

export type AppOptions = {
  /** In logs and metrics: `payments`. */
  name: string;
  version: string;
  publicUrl: string;
  logLevel?: LogLevel;
  logDestination?: LogDestination;
  errors?: ErrorCatalogue;
  bodyLimitBytes?: number;
  /** Addresses, networks or `loopback` and its like, whose `X-Forwarded-For` is believed. */
  trustProxy?: readonly string[];
  /** Rejects while the service cannot work (no database, migrations missing); then `/readyz` answers 503. */
  readiness?: () => Promise<void>;
  /** Whether an error says that what the service stands on is away for now: 503, to be sent again, and no bug of ours. */
  isOutage?: (error: unknown) => boolean;
  /**
   * Answers only under the host of `publicUrl` (and the names of this machine while that is one), so that no page of a
   * stranger's name can be made of it. Health and metrics answer everywhere: who asks for them knows addresses only.
   */
  checkHosts?: boolean;
  /** Who may read `/metrics`: everybody, nobody, or who has the token. */
  metricsAccess?: MetricsAccess;
  openapi?: OpenApiOptions;
  /** Refuses to start with a route that was not declared by `createRoutes`; pages (`catchAll`) are left out. */
  declaredRoutesOnly?: boolean;
  /** Adds the pages under `/docs` (`libs/docs`), where the `type` of every error leads. */
  docs?: (app: App) => void;
  /** Leaves out `/openapi.json` and the pages. */
  docsPath?: false;
  /** Where requests are counted, and what `/metrics` shows; made here unless the service made one for its features. */
  metrics?: Metrics;
  /** Process metrics beside the ones of HTTP, where they are made here; tests that make many apps leave them out. */
  defaultMetrics?: boolean;
};

export async function createApp(options: AppOptions): Promise<App> {
  const publicUrl = options.publicUrl.replace(/\/+$/, '');
  const typeBase = `${publicUrl}/docs/errors`;
  const problems = { typeBase, isOutage: options.isOutage };
  const headers = baseHeaders(publicUrl);
  const drain = new Drain();
  const { logger, accessLog } = createLogging(options);
  const app = newFastify(options, { typeBase, headers, drain, logger });
  const metrics =
    options.metrics ??
    createMetrics({ service: options.name, processMetrics: options.defaultMetrics ?? true });
  const durations = registerDurations(metrics);
  const allowed = new AllowedMethods();

  app.decorate('drainSignal', { getter: () => drain.signal });
  app.decorate('metrics', { getter: () => metrics });
  app.decorate('leave', () => drain.leave());
  const connections = watchConnections(app.server);
  app.decorate('drain', ({ timeoutMs = DRAIN_TIMEOUT_MS, unfinishedMs = DRAIN_TIMEOUT_MS } = {}) => {
    drain.begin();
    return closeWithin(app.server, app.close(), { timeoutMs, unfinishedMs, connections });
  });

  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    let value: unknown;
    try {
      requirePlainBody(request.headers['content-encoding']);
      // An empty body is left to the route: some take it, the others refuse it before validation.
      const hasSchema = request.routeOptions.schema?.body !== undefined;
      value = body.length === 0 ? undefined : parseJson(body as Buffer, { hasSchema });
    } catch (error) {
      done(error as Error);
      return;
    }
    done(null, value);
  });
  app.setErrorHandler((error, request, reply) => {
    if (isPersonAtNoAddress(request, error)) sendNothingHere(request, reply);
    else sendProblem(request, reply, error, problems);
  });
  app.setNotFoundHandler((request, reply) => sendProblem(request, reply, baseErrors.not_found(), problems));
  let declaredOnly = false;
  app.addHook('onRoute', (route) => {
    if (declaredOnly) requireDeclared(route);
    if (route.config?.catchAll !== true) allowed.add(route.url, route.method);
    observeRoute(route, { durations, accessLog });
    requireBody(route);
  });
  app.addHook(
    'onRequest',
    requestGate({
      ...{ headers, drain, allowed, durations, accessLog },
      isHost: options.checkHosts === true ? createHostCheck(publicUrl) : undefined,
    }),
  );

  // Once the body is read, which happens outside of any context: all that the handler calls belongs to the trace.
  app.addHook('preHandler', (request, _reply, done) => {
    const { traceparent } = request.headers;
    if (traceparent === undefined) done();
    else runInTrace(parseTraceparent(traceparent), () => done());
  });

  registerHealth(app, {
    ...{ drain, metrics },
    readiness: options.readiness ?? (async () => {}),
    metricsAccess: options.metricsAccess ?? 'open',
  });
  if (options.docsPath !== false) {
    registerOpenApi(app, { ...options, publicUrl, typeBase, errors: options.errors ?? baseErrors });
    options.docs?.(app);
  }
  // From here on routes are the service's own.
  declaredOnly = options.declaredRoutesOnly ?? false;
  return app;
}

type Edge = { typeBase: string; headers: BaseHeaders; drain: Drain; logger: Logger | undefined };

function newFastify(options: AppOptions, edge: Edge): App {
  const app = fastify({
    ...loggingOptions(edge.logger),
    genReqId: requestIdOf,
    bodyLimit: options.bodyLimitBytes ?? BODY_LIMIT_BYTES,
    // A copy: the framework puts the addresses in the place of names such as `loopback`.
    trustProxy: options.trustProxy === undefined ? false : [...options.trustProxy],
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // Requests that arrive while we close are answered by our own hook, with a problem.
    return503OnClosing: false,
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    // Node would answer a missing Host by itself, without a request id; the hook below does it.
    http: {
      requireHostHeader: false,
      headersTimeout: HEADERS_TIMEOUT_MS,
      ServerResponse: edge.drain.responseClass(),
    },
    clientErrorHandler: clientErrorHandler(edge),
    frameworkErrors: (error, request, reply) => {
      setBaseHeaders(reply, edge.headers);
      reply.header('x-request-id', request.id);
      if (isPersonAtNoAddress(request, error)) sendNothingHere(request, reply);
      else sendProblem(request, reply, error, edge);
    },
  });
  if (edge.logger !== undefined) makeChildrenLazily(app.log);
  // Node would answer an expectation that it does not know by itself, without a request id; it may be left unmet.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.server.on('connection', keepAddress);
  return app.withTypeProvider<TypeBoxTypeProvider>() as unknown as App;
}

/** Node remembers who called once it was asked; of a caller who is gone by then it does not know any more. */
function keepAddress(socket: Socket): void {
  void socket.remoteAddress;
}

/** A compressed body would be read as broken JSON, and what is only called compressed as if it were what it says. */
export function requirePlainBody(coding: string | undefined): void {
  if (coding === undefined || coding.toLowerCase() === 'identity') return;
  throw baseErrors.unsupported_media_type({ detail: 'The body must be sent without a Content-Encoding.' });
}

/** One line per request is written when it is answered (access-log.ts), so Fastify's own two lines are off. */
function loggingOptions(logger: Logger | undefined): FastifyServerOptions {
  const logController = new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' });
  return logger === undefined ? { logController } : { logController, loggerInstance: logger };
}

type Logging = { logger: Logger | undefined; accessLog: AccessLog | undefined };

function createLogging(options: AppOptions): Logging {
  const { name, logLevel: level = 'info', logDestination: destination = logDestination() } = options;
  if (level === 'silent') return { logger: undefined, accessLog: undefined };
  const logger = createLogger({ name, level, destination });
  const accessLog = logger.isLevelEnabled('info') ? new AccessLog({ destination, service: name }) : undefined;
  return { logger, accessLog };
}
