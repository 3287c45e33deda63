import { type App, requirePlainBody } from '@libs/http';
import { baseErrors, type Outage } from '@libs/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RoutesOn } from '../route-rules.ts';
import type { McpAccess } from './access.ts';
import { createEndpoint, type Entry } from './endpoint.ts';
import type { ServerInfo } from './protocol.ts';
import type { RequestLimit } from './request-limit.ts';
import type { ServerExtension } from './sdk-path.ts';
import type { McpService } from './service.ts';

export interface McpRoutesDependencies {
  mcp: McpService;
  access: McpAccess;
  routesOn: RoutesOn;
  requestLimit: RequestLimit;
  serverInfo: ServerInfo;
  onError: (error: unknown) => void;
  streamsUnchecked: Outage;
  /** Mail with attachments arrives here as base64. */
  bodyLimitBytes?: number;
  extension?: ServerExtension;
}

const MCP_BODY_LIMIT_BYTES = 16 * 1024 * 1024;
/** One resource, however a client spells it. */
const PATHS = ['/mcp', '/mcp/'];

export async function registerMcpRoutes(app: App, deps: McpRoutesDependencies): Promise<void> {
  const { bodyLimitBytes: bodyLimit = MCP_BODY_LIMIT_BYTES, routesOn, ...rest } = deps;
  const endpoint = createEndpoint({ ...rest, drainSignal: app.drainSignal });
  const entries = new WeakMap<FastifyRequest, Entry>();
  app.addHook('onClose', () => endpoint.close());
  // A scope of its own: here a body stays bytes until the protocol has looked at it.
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer' },
      async (request: FastifyRequest, body: Buffer) => {
        requirePlainBody(request.headers['content-encoding']);
        return body;
      },
    );
    const routes = routesOn(scope as App);
    const declared = {
      // The endpoint knows tokens, rates and the audit log by itself: what it refuses is worded by the protocol.
      access: 'public',
      rate: 'none',
      audit: 'none',
      idempotency: 'repeats',
      bodyLimit,
      schema: { hide: true },
      preParsing: async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
        entries.set(request, await endpoint.enter(request, reply));
      },
    } as const;
    for (const path of PATHS)
      routes.post(path, declared, async (request, reply) => {
        const answer = await endpoint.answer(entries.get(request) as Entry, request, reply);
        // Where the SDK answers, it writes to the socket itself.
        if (answer.kind === 'sent') return reply;
        return reply.code(answer.status).header('content-type', 'application/json').send(answer.body);
      });
    // Streams that the server opens belong to sessions, and there are none. Marked as a catch-all, because the one of
    // the dashboard would answer otherwise, and because this route must not make GET a method to recommend.
    for (const url of PATHS)
      scope.route({
        method: ['GET', 'DELETE'],
        url,
        config: { catchAll: true },
        schema: { hide: true },
        handler: async () => {
          throw baseErrors.method_not_allowed({ headers: { allow: 'POST' } });
        },
      });
  });
}
