import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { type Database, openDatabase } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import { type App, createApp, RateLimits } from '@libs/http';
import { listen } from '@libs/runtime';
import { createIdFactory } from '@libs/seal';
import { createAuditService } from '../../audit/service.ts';
import { registerBillingRoutes } from '../../billing/routes.ts';
import { type BillingService, createBillingService } from '../../billing/service.ts';
import type { Connector } from '../../connectors/connector.ts';
import { createConnectorService } from '../../connectors/service.ts';
import type { OpenResult } from '../../credentials/credential.ts';
import type { Access } from '../../customers/access.ts';
import { bearerToken } from '../../customers/access.ts';
import type { InternalSession, Scope, Session } from '../../customers/identity.ts';
import { errors } from '../../errors.ts';
import { createEmitEvent } from '../../events/service.ts';
import { createHealth } from '../../health/service.ts';
import { migrationSource, SCHEMA } from '../../schema.ts';
import { createAccountTools } from '../../tools/account-tools.ts';
import { createCatalogue } from '../../tools/catalogue.ts';
import { registerToolsRoutes } from '../../tools/routes.ts';
import { createToolsService, type ToolsService } from '../../tools/service.ts';
import { createMcpAccess, type McpAccess } from '../access.ts';
import { registerMcpRoutes } from '../routes.ts';
import type { ServerExtension } from '../sdk-path.ts';
import { createMcpService } from '../service.ts';

export const ADMIN_TOKEN = 'tha_admin';
export const SERVER_INFO = { name: 'toolhub', title: 'Toolhub', version: '0.1.0' };

/** One process' worth of the service: own pool, own caches, own lease. */
export interface Instance {
  app: App;
  url: string;
  database: Database;
  billing: BillingService;
  tools: ToolsService;
  errors: unknown[];
  close(): Promise<void>;
}

export interface InstanceOptions {
  databaseUrl: string;
  connectors: readonly Connector[];
  tokens: Map<string, Session | InternalSession>;
  internalAccounts?: Readonly<Record<string, readonly string[]>>;
  /** Platforms that customers have not connected. */
  disconnected?: ReadonlySet<string>;
  ratePerSecond?: number;
  leaseMs?: number;
  callTimeoutMs?: number;
  now?: () => Date;
  extension?: ServerExtension;
  /** Lets everyone in, for the conformance suite, which brings no token. */
  anonymous?: Session;
}

export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const now = options.now ?? (() => new Date());
  const failures: unknown[] = [];
  const onError = (error: unknown) => void failures.push(error);
  const port = await freePort();
  const publicUrl = `http://localhost:${port}`;
  const database = await openDatabase({ url: options.databaseUrl, schema: SCHEMA, connectionsMax: 8 });
  const newId = createIdFactory({ now, randomBytes });
  const emitEvent = createEmitEvent({ newId, now });
  const audit = createAuditService({ database, newId, now, onError });
  const billing = createBillingService({
    ...{ database, newId, now, emitEvent, onError },
    ...(options.leaseMs === undefined ? {} : { leaseMs: options.leaseMs }),
  });
  const connectors = createConnectorService({
    ...{ database, now, connectors: options.connectors, egressAllow: [], baseUrls: {} },
  });
  const credentials = testCredentials(options);
  const health = createHealth({ ...{ database, connectors, credentials, newId, now }, onError });
  const tools = await createToolsService({
    ...{ database, now },
    catalogue: createCatalogue({
      connectors: options.connectors,
      accountTools: createAccountTools({ connectors, credentials, health, now }),
      internalAccounts: (platform) => options.internalAccounts?.[platform] ?? [],
    }),
  });
  const rate = new RateLimits().limit({ name: 'calls', limit: options.ratePerSecond ?? 0 });
  const mcp = await createMcpService({
    ...{ database, publicUrl, tools, credentials, connectors, audit, emitEvent, onError },
    meter: billing.meter,
    takeRate: (customerId) => rate.take(customerId),
    ...(options.callTimeoutMs === undefined ? {} : { callTimeoutMs: options.callTimeoutMs }),
  });
  const app = await createApp({
    ...{ name: 'toolhub', version: '0.1.0', publicUrl, errors },
    ...{ logLevel: 'silent', docsPath: false, defaultMetrics: false },
  });
  const access = testAccess(options.tokens);
  registerBillingRoutes(app, { billing, access, audit, now });
  registerToolsRoutes(app, { tools, access, audit });
  const resolveBearer = async (token: string) => options.tokens.get(token) ?? null;
  await registerMcpRoutes(app, {
    mcp,
    access: withAnonymous(createMcpAccess({ publicUrl, resolveBearer }), options.anonymous),
    serverInfo: SERVER_INFO,
    onError,
    ...(options.extension === undefined ? {} : { extension: options.extension }),
  });
  await listen(app, { host: '127.0.0.1', port });
  return {
    ...{ app, url: publicUrl, database, billing, tools, errors: failures },
    async close() {
      await app.drain({ timeoutMs: 2_000 });
      await mcp.close();
      await tools.close();
      await billing.close();
      await audit.close();
      await connectors.close();
      await database.close();
    },
  };
}

function withAnonymous(access: McpAccess, session: Session | undefined): McpAccess {
  return session === undefined ? access : { ...access, identify: async () => session };
}

/** Every customer has one account on every platform, unless it is said to be disconnected. */
function testCredentials(options: InstanceOptions) {
  const names = (platform: string) => options.internalAccounts?.[platform] ?? [];
  return {
    async open(input: {
      session: Session | InternalSession;
      platform: string;
      account?: string;
    }): Promise<OpenResult> {
      const { session, platform } = input;
      if (session.kind === 'internal') {
        const account = input.account ?? names(platform)[0] ?? 'none';
        return { kind: 'ok', opened: { platform, customerId: null, account, credential: {}, version: 1 } };
      }
      if (options.disconnected?.has(platform) === true) return { kind: 'not_connected' };
      const account = `${session.customerId}@${platform}`;
      return {
        kind: 'ok',
        opened: { platform, customerId: session.customerId, account, credential: {}, version: 1 },
      };
    },
    openAfterRefusal: async (): Promise<OpenResult> => ({ kind: 'token_expired' }),
    list: async ({ customerId }: { customerId: string }) =>
      options.connectors
        .filter(({ id }) => options.disconnected?.has(id) !== true)
        .map(({ id }) => ({
          platform: id,
          account: `${customerId}@${id}`,
          status: 'connected' as const,
          expiresAt: null,
          updatedAt: new Date(0),
        })),
    internalAccounts: { names, find: () => undefined },
  };
}

/** The account API with plain tokens; the real one has tests of its own. */
function testAccess(
  tokens: Map<string, Session | InternalSession>,
): Pick<Access, 'customer' | 'admin' | 'sessionOf'> {
  const find = (authorization = ''): Session => {
    const session = tokens.get(bearerToken(authorization) ?? '');
    if (session === undefined || session.kind === 'internal') throw errors.unauthenticated();
    return session;
  };
  return {
    customer: () => async (request) => void find(request.headers.authorization),
    admin: async (request) => {
      if (bearerToken(request.headers.authorization ?? '') === ADMIN_TOKEN) return;
      find(request.headers.authorization);
      throw errors.forbidden();
    },
    sessionOf: (request) => find(request.headers.authorization),
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

export async function createToolhubDatabase(): Promise<TestDatabase> {
  return createTestDatabase(migrationSource);
}

export async function addCustomer(database: Database, id: string, plan = 'free'): Promise<void> {
  await database.query(
    `insert into customers (id, email, name, password_hash, plan, created_at) values ($1, $2, 'Test', 'x', $3, now())`,
    [id, `${id}@example.com`, plan],
  );
}

export function customerSession(customerId: string, scopes: readonly Scope[] = ALL_SCOPES): Session {
  return {
    kind: 'customer',
    customerId,
    via: 'personal',
    tokenId: `tok_${customerId}`,
    scopes,
    audience: null,
  };
}

export const ALL_SCOPES: readonly Scope[] = ['tools:read', 'tools:write', 'account:read', 'account:write'];

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

export type Era = 'modern' | 'legacy';

export interface RpcAnswer {
  status: number;
  headers: Headers;
  body: RpcBody;
}

export interface RpcBody {
  id?: unknown;
  result?: {
    isError?: boolean;
    structuredContent?: Record<string, unknown> & { error?: Record<string, unknown> };
    content?: { type: string; text: string }[];
    tools?: { name: string; inputSchema: { properties: Record<string, unknown>; required?: string[] } }[];
  } & Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
  code?: string;
}

/** One message to `/mcp`, as a client of the era would send it; `overrides` bend single headers. */
export async function rpc(
  url: string,
  token: string | null,
  message: { method: string; params?: Record<string, unknown>; id?: string | number },
  options: { era?: Era; query?: string; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<RpcAnswer> {
  const { era = 'modern' } = options;
  const { method, params = {}, id = 1 } = message;
  const modern = era === 'modern';
  const body = {
    jsonrpc: '2.0',
    id,
    method,
    params: modern ? { ...params, _meta: { ...META, ...(params._meta as object) } } : params,
  };
  const response = await fetch(`${url}/mcp${options.query ?? ''}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': modern ? '2026-07-28' : '2025-11-25',
      ...(modern ? { 'mcp-method': method } : {}),
      ...(modern && typeof params.name === 'string' ? { 'mcp-name': params.name } : {}),
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...options.headers,
    },
    body: JSON.stringify(body),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  return { status: response.status, headers: response.headers, body: readAnswer(await response.text()) };
}

/** JSON, or the last message of an event stream. */
export function readAnswer(text: string): RpcBody {
  const events = [...text.matchAll(/^data: ([^\r\n]+)/gm)].map(([, data]) => data as string);
  const json = events.at(-1) ?? text;
  return json === '' ? {} : (JSON.parse(json) as RpcBody);
}

export function callTool(
  url: string,
  token: string,
  name: string,
  args: Record<string, unknown> = {},
  options: Parameters<typeof rpc>[3] = {},
): Promise<RpcAnswer> {
  return rpc(url, token, { method: 'tools/call', params: { name, arguments: args } }, options);
}
