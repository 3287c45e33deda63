import { noteAudit } from '@libs/http';
import { AppError, baseErrors } from '@libs/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import type { Access } from '../customers/access.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import { BEGIN_CODES, FINISH_CODES } from './codes.ts';
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
          303: Type.Null({ description: 'To the dashboard, which says what went wrong.' }),
        },
      },
    },
    async (request, reply) => {
      const { platform } = request.params;
      try {
        const { provider, instance_url: server } = request.query;
        if (server !== undefined) refuseOtherSites(request);
        const address = await connect.begin(travellerOf(request, deps, platform), { provider, server });
        return reply.redirect(address, 302);
      } catch (error) {
        return answerFailure(request, reply, { error, page: deps.connectionPage(platform) });
      }
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
      audit: { action: 'credential.connected', targetParam: 'platform' },
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
        response: { 303: Type.Null({ description: 'To the dashboard.' }) },
      },
    },
    async (request, reply) => {
      const { platform } = request.params;
      const page = deps.connectionPage(platform);
      const traveller = travellerOf(request, deps, platform);
      try {
        await connect.finish(traveller, vendorAnswerOf(request.query));
        return reply.redirect(withParameter(page, 'connected', 'true'), 303);
      } catch (error) {
        noteAudit(request, { outcome: error instanceof AppError ? 'refused' : 'failure' });
        return answerFailure(request, reply, { error, page });
      }
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

/** A person is led to the page that can explain it; everybody else gets the problem itself. */
function answerFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  { error, page }: { error: unknown; page: string },
): FastifyReply {
  const isPerson = /\btext\/html\b/.test(request.headers.accept ?? '');
  if (!isPerson || !(error instanceof AppError)) throw error;
  if (error.status >= 500)
    request.log.warn({ err: error.cause ?? error, code: error.code }, 'request refused');
  return reply.redirect(withParameter(page, 'error', error.code), 303);
}

function withParameter(page: string, name: string, value: string): string {
  const url = new URL(page);
  url.searchParams.set(name, value);
  return url.href;
}
