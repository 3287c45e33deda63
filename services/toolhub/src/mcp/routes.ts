import { type App, baseErrors } from '@libs/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PlatformFilter } from '../tools/lists.ts';
import type { CallSession } from './call-tool.ts';
import type { McpService } from './service.ts';

export interface McpRoutesDeps {
  mcp: McpService;
  /** Mail with attachments arrives here as base64. */
  bodyLimitBytes?: number;
}

const BODY_LIMIT_BYTES = 16 * 1024 * 1024;
const PATH = '/mcp';

declare module 'fastify' {
  interface FastifyRequest {
    mcpEntry: { session: CallSession; platforms: PlatformFilter | null } | null;
  }
}

export async function registerMcpRoutes(app: App, deps: McpRoutesDeps): Promise<void> {
  const { mcp, bodyLimitBytes = BODY_LIMIT_BYTES } = deps;
  // A scope of its own: here a body stays bytes until the protocol has looked at it.
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.decorateRequest('mcpEntry', null);
    scope.post(
      PATH,
      {
        bodyLimit: bodyLimitBytes,
        schema: { hide: true },
        onRequest: async (request: FastifyRequest) => {
          request.mcpEntry = await mcp.enter(request);
        },
      },
      (request, reply) => answer(mcp, request, reply),
    );
    // Streams that the server opens belong to sessions, and there are none. The catch-all of the dashboard would
    // answer otherwise.
    scope.route({
      method: ['GET', 'DELETE'],
      url: PATH,
      config: { catchAll: true },
      schema: { hide: true },
      handler: async () => {
        throw baseErrors.method_not_allowed({ headers: { allow: 'POST' } });
      },
    });
  });
}

async function answer(mcp: McpService, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const entry = request.mcpEntry;
  if (entry === null) throw new Error('the hook of this route did not run');
  const outcome = await mcp.answer({ ...entry, request, reply });
  // The SDK has written, or is writing, to the socket itself.
  if (outcome.kind === 'sent') return reply;
  return reply.code(outcome.status).header('content-type', 'application/json').send(outcome.body);
}
