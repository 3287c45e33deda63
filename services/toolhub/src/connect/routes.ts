import { noteAudit } from '@libs/http';
import { AppError, baseErrors } from '@libs/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Access } from '../customers/access.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import { BEGIN_CODES, type ConnectCode, FINISH_CODES } from './codes.ts';
import type { ConnectService, LoginAnswer, Traveller } from './service.ts';

export interface ConnectRoutesDependencies {
  connect: ConnectService;
  access: Pick<Access, 'sessionOf' | 'standingOf' | 'cookieOf'>;
  /** The page of the dashboard that shows a platform's connection. */
  connectionPage: (platform: string) => string;
}

const Params = Type.Object({ platform: Type.String({ pattern: '^[a-z]{1,20}$', examples: ['slack'] }) });
const BeginQuery = Type.Object(
  {
    provider: Type.Optional(
      Type.String({
        pattern: '^[a-z]{1,20}$',
        description: 'Which vendor, where the platform has several: `google` or `microsoft` for e-mail.',
      }),
    ),
    instance_url: Type.Optional(
      Type.String({
        maxLength: 270,
        description:
          'The server that has the account, where the platform has many: `https://mastodon.social`.',
      }),
    ),
  },
  { additionalProperties: false },
);
/** Vendors send parameters of their own, and a parameter that comes twice is an array. */
const CallbackQuery = Type.Object({}, { additionalProperties: true });

const STATE_INVALID: ConnectCode = 'connect_state_invalid';
/** Led away like others, and yet written down as little as others beyond the rate limit. */
const cameTooOften = new WeakSet<FastifyRequest>();

/** The way to a vendor and back. Both ends are visited by the customer's browser, with the session's cookie. */
export function registerConnectRoutes(routes: ToolhubRoutes, deps: ConnectRoutesDependencies): void {
  registerBegin(routes, deps);
  registerCallback(routes, deps);
}

function registerBegin(routes: ToolhubRoutes, deps: ConnectRoutesDependencies): void {
  const { connect } = deps;
  routes.get(
    '/api/connect/:platform',
    {
      access: 'account:write',
      rate: 'api',
      audit: 'none',
      idempotency: 'repeats',
      codes: BEGIN_CODES,
      schema: {
        operationId: 'connect.begin',
        summary: 'Connect a platform in the browser',
        description:
          'Leads to the vendor, where the customer allows the access. The vendor sends the browser back to `/api/connect/:platform/callback`, which leads to the dashboard.',
        tags: ['Credentials'],
        params: Params,
        querystring: BeginQuery,
        response: {
          302: Type.Null({ description: 'To the vendor.' }),
          303: Type.Null({ description: 'To the dashboard, which says what went wrong, or to its log-in.' }),
        },
      },
      errorHandler: leadPeople(deps, (page) => page),
    },
    async (request, reply) => {
      const { provider, instance_url: server } = request.query;
      if (server !== undefined) refuseOtherSites(request);
      const traveller = travellerOf(request, deps, request.params.platform);
      return reply.redirect(await connect.begin(traveller, { provider, server }), 302);
    },
  );
}

function registerCallback(routes: ToolhubRoutes, deps: ConnectRoutesDependencies): void {
  const { connect } = deps;
  routes.get(
    '/api/connect/:platform/callback',
    {
      access: 'account:write',
      rate: 'dear',
      audit: {
        ...{ action: 'credential.connected', targetParam: 'platform' },
        onlyIf: (request) => !cameTooOften.has(request),
      },
      idempotency: 'repeats',
      codes: FINISH_CODES,
      schema: {
        operationId: 'connect.finish',
        summary: 'Where the vendor sends the browser back to',
        description:
          'Stores the credential and leads to the dashboard. Failures are told there, or as a problem to callers that do not take HTML.',
        tags: ['Credentials'],
        params: Params,
        querystring: CallbackQuery,
        response: { 303: Type.Null({ description: 'To the dashboard, or to its log-in.' }) },
      },
      // The journey was of the session that is over.
      errorHandler: leadPeople(deps, (page) => withParameter(page, 'error', STATE_INVALID)),
    },
    async (request, reply) => {
      const { platform } = request.params;
      const traveller = travellerOf(request, deps, platform);
      await connect.finish(traveller, vendorAnswerOf(request.query));
      return reply.redirect(withParameter(deps.connectionPage(platform), 'connected', 'true'), 303);
    },
  );
}

/** A link on another page must not be able to lead a customer to a server of its choice by way of this one. */
function refuseOtherSites({ headers }: FastifyRequest): void {
  if (headers['sec-fetch-site'] === 'cross-site') throw baseErrors.csrf();
}

function travellerOf(
  request: FastifyRequest,
  { access }: ConnectRoutesDependencies,
  platform: string,
): Traveller {
  const session = access.sessionOf(request);
  return {
    ...{ customerId: session.customerId, platform },
    sessionToken: session.via === 'cookie' ? (access.cookieOf(request) ?? null) : null,
    standing: access.standingOf(session),
  };
}

/** A parameter that comes twice counts as none. */
function vendorAnswerOf(query: unknown): LoginAnswer {
  const { state, code, error } = query as Record<string, unknown>;
  return {
    ...(typeof state === 'string' ? { state } : {}),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof error === 'string' ? { error } : {}),
  };
}

/**
 * A person is led to the page that can explain it, also where the gates of the route refused; everybody else gets the problem
 * itself. Who has no session logs in first, and comes to `afterLogin`.
 */
function leadPeople(
  { connectionPage }: ConnectRoutesDependencies,
  afterLogin: (page: string) => string,
): (error: Error, request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  return (error, request, reply) => {
    if (!(error instanceof AppError)) throw error;
    noteAudit(request, { outcome: 'refused' });
    if (!/\btext\/html\b/.test(request.headers.accept ?? '')) throw error;
    if (error.status >= 500)
      request.log.warn({ err: error.cause ?? error, code: error.code }, 'request refused');
    if (error.status === 429) cameTooOften.add(request);
    const page = connectionPage((request.params as { platform: string }).platform);
    const target =
      error.status === 401 ? loginBefore(afterLogin(page)) : withParameter(page, 'error', error.code);
    return reply.redirect(target, 303);
  };
}

function loginBefore(page: string): string {
  const { pathname, search } = new URL(page);
  return withParameter(new URL('/login', page).href, 'next', `${pathname}${search}`);
}

function withParameter(page: string, name: string, value: string): string {
  const url = new URL(page);
  url.searchParams.set(name, value);
  return url.href;
}
