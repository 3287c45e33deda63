// What Toolhub is held against, over plain Fastify: the official SDK's McpServer, and a route that does nothing.
import {
  createMcpHandler,
  fromJsonSchema,
  McpServer,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { createCatalogue } from '../../services/toolhub/src/tools/catalogue.ts';
import { withoutAccount } from '../../services/toolhub/src/tools/schemas.ts';
import { ANSWER, benchPlatform, CALLED_TOOL } from './platform.ts';

const { tools } = createCatalogue({
  connectors: [benchPlatform()],
  accountTools: [],
  internalAccounts: () => [],
});
// Made once: converting the schemas is no part of what is compared.
const registrations = tools.map(({ wire }) => ({
  name: wire.name,
  config: {
    title: wire.title,
    description: wire.description,
    annotations: wire.annotations,
    inputSchema: fromJsonSchema<Record<string, unknown>>(withoutAccount(wire.inputSchema)),
    outputSchema: fromJsonSchema<Record<string, unknown>>(wire.outputSchema),
  },
}));

function newServer(registered: typeof registrations): McpServer {
  const server = new McpServer({ name: 'peer', version: '1' });
  for (const { name, config } of registered)
    server.registerTool(name, config, async () => ({
      content: [{ type: 'text', text: JSON.stringify(ANSWER) }],
      structuredContent: ANSWER,
    }));
  return server;
}

/** Below McpServer: no look-up of the tool, and nothing is validated. */
function newLowLevelServer(): Server {
  const server = new Server({ name: 'peer', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/call', async () => ({
    content: [{ type: 'text', text: JSON.stringify(ANSWER) }],
    structuredContent: ANSWER,
  }));
  return server;
}

type Fetch = (request: Request, options: { parsedBody: unknown }) => Promise<Response>;

/** The answer gets its length, which the load process needs; streaming it through the Node adapter costs more. */
function mount(serve: Fetch) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const headers = request.headers as Record<string, string>;
    const web = new Request(`http://localhost${request.url}`, { method: 'POST', headers, body: '{}' });
    const response = await serve(web, { parsedBody: request.body });
    reply.code(response.status).header('content-type', response.headers.get('content-type') ?? '');
    return reply.send(await response.text());
  };
}

const app = fastify();
const allTools = createMcpHandler(() => newServer(registrations));
const oneTool = createMcpHandler(() => newServer(registrations.filter(({ name }) => name === CALLED_TOOL)));
const longLived = new WebStandardStreamableHTTPServerTransport({
  sessionIdGenerator: () => 'one',
  enableJsonResponse: true,
});
await newLowLevelServer().connect(longLived);

app.post('/per-request', mount(allTools.fetch));
app.post('/one-tool', mount(oneTool.fetch));
app.post(
  '/long-lived',
  mount((request, options) => longLived.handleRequest(request, options)),
);
app.get('/bare', async () => ({ status: 'ok' }));

const address = await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.(address);
process.once('disconnect', () => process.exit(0));
