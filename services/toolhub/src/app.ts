import { randomBytes } from 'node:crypto';
import type { Database } from '@libs/db';
import { type App, createApp, postgresRateStore, RateLimits } from '@libs/http';
import { everyMinutes, type Handler, startWorker, type Worker } from '@libs/jobs';
import { createIdFactory, createSealer } from '@libs/seal';
import { registerAuditRoutes } from './audit/routes.ts';
import { createAuditService } from './audit/service.ts';
import type { Config } from './config.ts';
import { createEgress } from './connectors/egress.ts';
import { createAccess } from './customers/access.ts';
import { createBearer } from './customers/bearer.ts';
import { createLoginLimit } from './customers/login-limit.ts';
import { createPasswords } from './customers/passwords.ts';
import { announceRevocation } from './customers/revocations-store.ts';
import { registerCustomerRoutes } from './customers/routes.ts';
import { createCustomerService } from './customers/service.ts';
import { createTokenService } from './customers/tokens.ts';
import { registerTokenRoutes } from './customers/tokens-routes.ts';
import { errors } from './errors.ts';
import type { FetchDocument } from './oauth/provider.ts';
import { registerOAuthServer } from './oauth/server.ts';
import { createOAuthService } from './oauth/service.ts';
import { SCHEMA } from './schema.ts';

export interface ToolhubOptions {
  config: Config;
  database: Database;
  now?: () => Date;
  /** How documents of OAuth clients are fetched; through the guard unless told otherwise. */
  fetchDocument?: FetchDocument;
}

export interface Toolhub {
  app: App;
  /** Starts to take jobs; a process that only serves requests leaves it out. */
  startJobs(): Promise<void>;
  /** Stops taking jobs; those under way are finished. */
  stopJobs(): Promise<void>;
  /** Gives everything back; call it once no request is open. */
  close(): Promise<void>;
}

const PURGE_MINUTES = 30;

export async function createToolhub(options: ToolhubOptions): Promise<Toolhub> {
  const { config, database, now = () => new Date() } = options;
  const { publicUrl, logLevel, trustProxy } = config.server;
  const app = await createApp({
    name: 'toolhub',
    version: '0.1.0',
    publicUrl,
    logLevel,
    ...(trustProxy === undefined ? {} : { trustProxy }),
    errors,
    openapi,
    readiness: async () => {
      await database.query('select 1 from migrations limit 1');
    },
  });
  const newId = createIdFactory({ now, randomBytes });
  const sealer = createSealer({ keys: config.secrets.encryptionKeys });
  const rates = new RateLimits({
    store: postgresRateStore({ query: (text, values) => database.query(text, values), schema: SCHEMA }),
    onError: (error) => app.log.warn({ err: error }, 'rate limits are local'),
  });
  await rates.start();
  const addressLimit = rates.limit({
    name: 'address',
    limit: config.rate.addressPerMinute,
    windowSeconds: 60,
    burst: config.rate.addressPerMinute,
  });
  const audit = createAuditService({
    database,
    newId,
    now,
    onError: (error, context) => app.log.error({ err: error, ...context }, 'audit entries could not be written'),
  });

  const loginLimit = createLoginLimit({ database, newId, now });
  const passwords = await createPasswords();
  const customers = createCustomerService({ database, passwords, loginLimit, newId, randomBytes, now });
  const tokens = createTokenService({ database, newId, randomBytes, now });
  const egress = createEgress({ allow: config.egressAllow });
  const oauth = createOAuthService({ database, publicUrl, sealer, randomBytes, now });
  await oauth.upsertOwnClient();
  const bearer = await createBearer({
    database,
    sources: [tokens, oauth],
    internalTokens: config.secrets.internalTokens,
    now,
  });
  const access = createAccess({
    publicUrl,
    adminToken: config.secrets.adminToken,
    resolveBearer: bearer.resolve,
    resolveCookie: customers.resolveCookie,
  });

  registerCustomerRoutes(app, { customers, access, audit, addressLimit });
  registerTokenRoutes(app, { tokens, access, audit });
  registerAuditRoutes(app, { audit, access });
  registerOAuthServer(app, {
    database,
    publicUrl,
    oauth,
    customers,
    tokens,
    access,
    audit,
    resolveBearer: bearer.resolve,
    announceRevocation,
    addressLimit,
    fetchDocument:
      options.fetchDocument ?? ((url, { headers, signal }) => egress.fetch(signal)(url, { headers })),
    newId,
    now,
  });

  const purge: Handler = {
    name: 'accounts.purge',
    handle: async () => {
      await Promise.all([loginLimit.purge(), customers.purge(), tokens.purge(), oauth.purge()]);
    },
  };
  let worker: Worker | undefined;
  return {
    app,
    async startJobs() {
      worker = await startWorker({
        database,
        handlers: [purge],
        cron: [{ name: purge.name, schedule: everyMinutes(PURGE_MINUTES) }],
        now,
        onError: (error, context) => app.log.error({ err: error, ...context }, 'job failed'),
      });
    },
    async stopJobs() {
      await worker?.drain();
      worker = undefined;
    },
    async close() {
      await audit.close();
      await bearer.close();
      await rates.close();
      await egress.close();
    },
  };
}

const openapi = {
  title: 'Toolhub',
  description: 'Tools for AI assistants: accounts, tokens, connections, usage.',
  securitySchemes: {
    bearer: { type: 'http', scheme: 'bearer', description: 'A personal token or an OAuth access token.' },
  },
  security: [{ bearer: [] }],
};
