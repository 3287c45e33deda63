import { randomBytes } from 'node:crypto';
import { type Database, openDatabase } from '@libs/db';
import { createTestDatabase, type TestDatabase } from '@libs/db/testing';
import type { App } from '@libs/http';
import { listen } from '@libs/runtime';
import { freePort } from '@libs/runtime/testing';
import type { BillingService } from '../../billing/service.ts';
import { loadConfig } from '../../config.ts';
import type { Connector } from '../../connectors/connector.ts';
import { createConnectorService } from '../../connectors/service.ts';
import type { OpenResult } from '../../credentials/credential.ts';
import { createAccess } from '../../customers/access.ts';
import type { InternalSession, Scope, Session } from '../../customers/identity.ts';
import { createEmitEvent } from '../../events/service.ts';
import { createHealth } from '../../health/service.ts';
import { createBase } from '../../parts/base.ts';
import { addTools } from '../../parts/tools.ts';
import { createToolhubRoutes } from '../../route-rules.ts';
import { migrationSource, SCHEMA } from '../../schema.ts';
import type { ToolsService } from '../../tools/service.ts';
import type { ServerExtension } from '../sdk-path.ts';

export const ADMIN_TOKEN = 'tha_admin-of-the-rig';
const ANONYMOUS_TOKEN = 'thp_anonymous';
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
  egressAllow?: readonly string[];
  callTimeoutMs?: number;
  /** What becomes of a token that the platform refused; it is over unless said otherwise. */
  openAfterRefusal?: () => Promise<OpenResult>;
  now?: () => Date;
  extension?: ServerExtension;
  /** Lets everyone in, for the conformance suite, which brings no token. */
  anonymous?: Session;
}

/** The part of the service that runs tools, as `app.ts` builds it, with accounts that need no sign-up. */
export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const { callTimeoutMs, extension, anonymous } = options;
  const failures: unknown[] = [];
  const onError = (error: unknown) => void failures.push(error);
  const port = await freePort();
  const database = await openDatabase({ url: options.databaseUrl, schema: SCHEMA, connectionsMax: 8 });
  const config = await loadConfig(
    {
      TOOLHUB_PORT: String(port),
      TOOLHUB_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
      TOOLHUB_ADMIN_TOKEN: ADMIN_TOKEN,
      TOOLHUB_INTERNAL_TOKENS: 'rig:thi_internal-of-the-rig',
      TOOLHUB_LOG_LEVEL: 'silent',
      TOOLHUB_RATE_API: '0',
      TOOLHUB_RATE: String(options.ratePerSecond ?? 0),
    },
    options.connectors,
  );
  const base = await createBase({ config, database, ...(options.now ? { now: options.now } : {}) });
  const { app, newId, now } = base;
  if (anonymous !== undefined) {
    options.tokens.set(ANONYMOUS_TOKEN, anonymous);
    app.addHook('onRequest', async ({ headers }) => {
      headers.authorization ??= `Bearer ${ANONYMOUS_TOKEN}`;
    });
  }
  const { publicUrl } = config.server;
  const resolveBearer = async (token: string) => options.tokens.get(token) ?? null;
  const resolveCookie = async () => undefined;
  const access = createAccess({ publicUrl, adminToken: ADMIN_TOKEN, resolveBearer, resolveCookie });
  const addressLimit = base.rates.limit({ name: 'address', limit: 0 });
  const routesOn = createToolhubRoutes({ ...base, access, addressLimit });
  const connectors = createConnectorService({
    ...{ database, now, randomBytes, connectors: options.connectors, baseUrls: {} },
    egressAllow: options.egressAllow ?? [],
  });
  const credentials = testCredentials(options);
  const health = createHealth({ ...{ database, connectors, credentials, newId, now }, onError });
  const { internalAccounts } = credentials;
  const tools = await addTools(
    base,
    {
      platforms: {
        ...{ definitions: options.connectors, connectors, credentials, internalAccounts, health },
        connections: {
          platformsOf: async (customerId) =>
            (await credentials.list({ customerId })).map(({ platform }) => platform),
          subscribe: () => {},
        },
      },
      accounts: {
        ...{ access, routes: routesOn(app), routesOn, resolveBearer },
        customers: { find: async () => undefined },
        clientOf: async ({ tokenId }) => ({ id: tokenId ?? '', name: `client of ${tokenId}` }),
      },
      emitEvent: createEmitEvent({ newId, now }),
    },
    {
      onError,
      ...(callTimeoutMs === undefined ? {} : { callTimeoutMs }),
      ...(extension === undefined ? {} : { extension }),
    },
  );
  await listen(app, { host: '127.0.0.1', port });
  return {
    ...{ app, url: publicUrl, database, billing: tools.billing, tools: tools.tools, errors: failures },
    async close() {
      await app.drain({ timeoutMs: 2_000 });
      await tools.close();
      await base.changes.close();
      await base.audit.close();
      await base.rates.close();
      await connectors.close();
      await database.close();
    },
  };
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
    openAfterRefusal:
      options.openAfterRefusal ?? (async (): Promise<OpenResult> => ({ kind: 'token_expired' })),
    hold: async () => true,
    rename: async () => {},
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

export async function createToolhubDatabase(): Promise<TestDatabase> {
  return createTestDatabase(migrationSource);
}

/** With the token of `customerSession`, as whoever stores something must still have one. */
export async function addCustomer(database: Database, id: string, plan = 'free'): Promise<void> {
  await database.query(
    `insert into customers (id, email, name, password_hash, plan, created_at) values ($1, $2, 'Test', 'x', $3, now())`,
    [id, `${id}@example.com`, plan],
  );
  await database.query(
    `insert into personal_tokens (customer_id, id, token_hash, name, scopes, created_at)
     values ($1, $2, '', 'test', '{}', now())`,
    [id, tokenIdOf(id)],
  );
}

const tokenIdOf = (customerId: string) => `tok_${customerId}`;

export function customerSession(customerId: string, scopes: readonly Scope[] = ALL_SCOPES): Session {
  return {
    kind: 'customer',
    customerId,
    via: 'personal',
    tokenId: tokenIdOf(customerId),
    scopes,
    audience: null,
  };
}

const ALL_SCOPES: readonly Scope[] = ['tools:read', 'tools:write', 'account:read', 'account:write'];

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
