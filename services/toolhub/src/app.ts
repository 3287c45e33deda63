import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Database } from '@libs/db';
import { type App, createApp, postgresRateStore, RateLimits } from '@libs/http';
import { type CronEntry, everyMinutes, type Handler, startWorker, type Worker } from '@libs/jobs';
import { createIdFactory, createSealer, type NewId, type Sealer } from '@libs/seal';
import type { ResolveHost } from '@libs/webhooks';
import { registerAdminRoutes } from './admin/routes.ts';
import { createAdminService } from './admin/service.ts';
import { createSuspensions, type Suspensions } from './admin/suspensions.ts';
import { registerAuditRoutes } from './audit/routes.ts';
import { type AuditService, createAuditService } from './audit/service.ts';
import { registerBillingRoutes } from './billing/routes.ts';
import { type BillingService, createBillingService } from './billing/service.ts';
import type { Config } from './config.ts';
import type { Connector } from './connectors/connector.ts';
import { createEgress } from './connectors/egress.ts';
import { createConnectors } from './connectors/index.ts';
import { createConnectorService } from './connectors/service.ts';
import { readInternalAccounts } from './credentials/internal-accounts.ts';
import { registerCredentialRoutes } from './credentials/routes.ts';
import { createCredentialService } from './credentials/service.ts';
import { type Access, createAccess } from './customers/access.ts';
import { createBearerResolver } from './customers/bearer.ts';
import type { BearerResolver } from './customers/identity.ts';
import { createLoginLimit } from './customers/login-limit.ts';
import { createPasswords } from './customers/passwords.ts';
import { createRevocations } from './customers/revocations.ts';
import { registerCustomerRoutes } from './customers/routes.ts';
import { type CustomerService, createCustomerService } from './customers/service.ts';
import { createTokenService } from './customers/tokens.ts';
import { registerTokenRoutes } from './customers/tokens-routes.ts';
import { errors } from './errors.ts';
import { createEmitEvent, type EmitEvent } from './events/service.ts';
import { registerHealthRoutes } from './health/routes.ts';
import { createHealth } from './health/service.ts';
import { registerInboundRoutes } from './inbound/routes.ts';
import { createInboundService } from './inbound/service.ts';
import { issuerOf } from './invoices/issuer.ts';
import { registerInvoiceRoutes } from './invoices/routes.ts';
import { createInvoiceService } from './invoices/service.ts';
import type { Mailer } from './mail/mail.ts';
import { createMailer } from './mail/mailer.ts';
import { createNotices } from './mail/notices.ts';
import { createMcpAccess } from './mcp/access.ts';
import { registerMcpRoutes } from './mcp/routes.ts';
import { createMcpService } from './mcp/service.ts';
import type { FetchDocument } from './oauth/provider.ts';
import { registerOAuthServer } from './oauth/server.ts';
import { createOAuthService } from './oauth/service.ts';
import { checkReady } from './readiness-store.ts';
import { SCHEMA } from './schema.ts';
import { createAccountTools } from './tools/account-tools.ts';
import { createCatalogue } from './tools/catalogue.ts';
import { registerToolsRoutes } from './tools/routes.ts';
import { createToolsService } from './tools/service.ts';
import { registerWebhookRoutes } from './webhooks/routes.ts';
import type { DeliveryRules } from './webhooks/rules.ts';
import { createWebhooks } from './webhooks/service.ts';

export interface ToolhubOptions {
  config: Config;
  database: Database;
  connectors?: readonly Connector[];
  now?: () => Date;
  /** How documents of OAuth clients are fetched; through the guard unless told otherwise. */
  fetchDocument?: FetchDocument;
  /** How webhooks are looked up and retried; as the contract says unless told otherwise. */
  webhooks?: { resolveHost?: ResolveHost; rules?: Partial<DeliveryRules> };
}

export interface Toolhub {
  app: App;
  /** Starts to take jobs and to send webhooks; a process that only serves requests leaves it out. */
  startJobs(): Promise<void>;
  /** Takes nothing new; what is under way is finished. Needs the database, so it comes before that is closed. */
  stopJobs(): Promise<void>;
  /** Gives everything back; call it once no request is open. */
  close(): Promise<void>;
}

/** What every feature is built from. */
interface Base {
  app: App;
  config: Config;
  database: Database;
  rates: RateLimits;
  audit: AuditService;
  sealer: Sealer;
  /** Mail of the service itself, to its customers. */
  mailer: Mailer;
  newId: NewId;
  now: () => Date;
}

/** One or more features that are in place: what runs in the background for them, and how they end. */
interface Part {
  handlers: readonly Handler[];
  cron: readonly CronEntry[];
  /** What runs beside the jobs, in processes that take them. */
  background?: { start(): Promise<void>; stop(): Promise<void> };
  close(): Promise<void>;
}

const VERSION = '0.1.0';
const PURGE_MINUTES = 30;

export async function createToolhub(options: ToolhubOptions): Promise<Toolhub> {
  const base = await createBase(options);
  const { app, database, now, audit, rates } = base;
  const accounts = await addAccounts(base, options.fetchDocument);
  const webhooks = addWebhooks(base, accounts, options.webhooks);
  const definitions = options.connectors ?? createConnectors();
  const notices = createNotices({
    ...{ schema: SCHEMA, mailer: base.mailer, publicUrl: options.config.server.publicUrl },
    findCustomer: accounts.customers.find,
  });
  const emitEvent = notices.withMail(webhooks.emitEvent);
  const tools = await addTools(base, { definitions, accounts, emitEvent });
  const { billing } = tools;
  const invoices = addInvoices(base, { definitions, accounts, emitEvent });
  const inbound = await addInbound(base, emitEvent);
  addAdmin(base, { accounts, billing });
  const parts: Part[] = [webhooks, invoices, inbound, tools, accounts];
  let worker: Worker | undefined;
  async function stopJobs(): Promise<void> {
    const stopping = worker;
    worker = undefined;
    if (stopping === undefined) return;
    await Promise.all([stopping.drain(), ...parts.map(({ background }) => background?.stop())]);
  }
  return {
    app,
    async startJobs() {
      worker = await startWorker({
        database,
        handlers: [...notices.handlers, ...parts.flatMap(({ handlers }) => handlers)],
        cron: parts.flatMap(({ cron }) => cron),
        now,
        onError: (error, context) => app.log.error({ err: error, ...context }, 'job failed'),
      });
      for (const { background } of parts) await background?.start();
    },
    stopJobs,
    async close() {
      // A start that failed half-way never came to drain.
      await stopJobs();
      for (const part of parts) await part.close();
      await audit.close();
      await rates.close();
    },
  };
}

async function createBase({ config, database, now = () => new Date() }: ToolhubOptions): Promise<Base> {
  const { publicUrl, logLevel, trustProxy } = config.server;
  const app = await createApp({
    name: 'toolhub',
    version: VERSION,
    publicUrl,
    logLevel,
    ...(trustProxy === undefined ? {} : { trustProxy }),
    errors,
    openapi,
    readiness: () => checkReady(database),
  });
  const newId = createIdFactory({ now, randomBytes });
  const rates = new RateLimits({
    store: postgresRateStore({ query: (text, values) => database.query(text, values), schema: SCHEMA }),
    onError: (error) => app.log.warn({ err: error }, 'rate limits are local'),
  });
  await rates.start();
  const audit = createAuditService({
    database,
    newId,
    now,
    onError: (error, context) =>
      app.log.error({ err: error, ...context }, 'audit entries could not be written'),
  });
  const sealer = createSealer({ keys: config.secrets.encryptionKeys });
  const mailer = createMailer({
    ...config.mail,
    folder: join(config.dataDir, 'mail'),
    host: new URL(publicUrl).hostname,
    now,
  });
  return { app, config, database, rates, audit, sealer, mailer, newId, now };
}

type Accounts = Part & {
  customers: CustomerService;
  access: Access;
  resolveBearer: BearerResolver;
  suspensions: Suspensions;
};

/** Customers, their sessions and tokens, the audit log and the OAuth server. */
async function addAccounts(base: Base, fetchDocument?: FetchDocument): Promise<Accounts> {
  const { app, config, database, rates, audit, sealer, newId, now } = base;
  const { publicUrl } = config.server;
  const addressLimit = rates.limit({
    name: 'address',
    limit: config.rate.addressPerMinute,
    windowSeconds: 60,
    burst: config.rate.addressPerMinute,
  });
  const loginLimit = createLoginLimit({ database, newId, now });
  const passwords = await createPasswords();
  const customers = createCustomerService({ database, passwords, loginLimit, newId, randomBytes, now });
  const revocations = await createRevocations(database);
  const tokens = createTokenService({ database, revocations, newId, randomBytes, now });
  const oauth = createOAuthService({ database, publicUrl, sealer, randomBytes, revocations, now });
  await oauth.upsertOwnClient();
  const { internalTokens, adminToken } = config.secrets;
  const suspensions = await createSuspensions({
    ...{ database, now },
    onError: (error) => app.log.error({ err: error }, 'suspensions could not be read'),
  });
  const resolveBearer = suspensions.guardBearer(
    createBearerResolver({ revocations, sources: [tokens, oauth], internalTokens, now }),
  );
  const resolveCookie = suspensions.guardCookie(customers.resolveCookie);
  const access = createAccess({ publicUrl, adminToken, resolveBearer, resolveCookie });
  const egress = createEgress({ allow: config.egressAllow });

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
    resolveBearer,
    revocations,
    addressLimit,
    fetchDocument: fetchDocument ?? ((url, { headers, signal }) => egress.fetch(signal)(url, { headers })),
    newId,
    now,
  });

  const purge: Handler = {
    name: 'accounts.purge',
    handle: async () => {
      await Promise.all([loginLimit.purge(), customers.purge(), tokens.purge(), oauth.purge()]);
    },
  };
  return {
    customers,
    access,
    resolveBearer,
    suspensions,
    handlers: [purge],
    cron: [{ name: purge.name, schedule: everyMinutes(PURGE_MINUTES) }],
    async close() {
      await revocations.close();
      await suspensions.close();
      await egress.close();
    },
  };
}

/** Events, and the webhooks that tell customers of them. */
function addWebhooks(
  { app, config, database, audit, sealer, newId, now }: Base,
  { customers, access }: Accounts,
  options: ToolhubOptions['webhooks'],
): Part & { emitEvent: EmitEvent } {
  const webhooks = createWebhooks({
    ...{ database, sealer, newId, randomBytes, now },
    egressAllow: config.egressAllow,
    onError: (error) => app.log.error({ err: error }, 'webhooks stumbled'),
    ...options,
  });
  const customerExists = async (id: string) => (await customers.find(id)) !== undefined;
  registerWebhookRoutes(app, { webhooks, access, audit, customerExists });
  return {
    emitEvent: createEmitEvent({ newId, now, deliver: webhooks.deliver }),
    ...webhooks.jobs,
    background: webhooks.dispatcher,
    close: () => Promise.resolve(),
  };
}

/** Platforms, their credentials, the tools, what calls cost, and the endpoint that AI clients talk to. */
async function addTools(
  base: Base,
  parts: { definitions: readonly Connector[]; accounts: Accounts; emitEvent: EmitEvent },
): Promise<Part & { billing: BillingService }> {
  const { app, config, database, rates, audit, sealer, newId, now } = base;
  const { publicUrl } = config.server;
  const { definitions, accounts, emitEvent } = parts;
  const { access, resolveBearer } = accounts;
  const onError = (error: unknown, context?: object) =>
    app.log.error({ err: error, ...context }, 'a call failed');
  const billing = createBillingService({ database, newId, now, emitEvent, onError });
  const connectors = createConnectorService({
    connectors: definitions,
    database,
    egressAllow: config.egressAllow,
    baseUrls: config.connectorUrls,
    now,
  });
  const internalAccounts = readInternalAccounts(config.internalAccounts, definitions);
  const credentials = createCredentialService({
    database,
    sealer,
    connectors,
    internalAccounts,
    emitEvent,
    newLeaseId: () => newId('lse'),
    now,
    onUnreadable: (error, key) =>
      app.log.error(
        { err: error, customer: key.customerId, platform: key.platform },
        'a credential does not open',
      ),
  });
  const health = createHealth({
    ...{ database, connectors, credentials, newId, now },
    onError: (error, context) => app.log.error({ err: error, ...context }, 'a health check failed'),
  });
  const tools = await createToolsService({
    database,
    now,
    catalogue: createCatalogue({
      connectors: definitions,
      accountTools: createAccountTools({ connectors, credentials, now }),
      internalAccounts: internalAccounts.names,
    }),
  });
  const callRate = rates.limit({ name: 'calls', limit: config.rate.callsPerSecond });
  const mcp = await createMcpService({
    database,
    publicUrl,
    tools,
    meter: billing.meter,
    takeRate: callRate.take,
    credentials,
    connectors,
    audit,
    emitEvent,
    onError,
  });

  registerCredentialRoutes(app, { credentials, connectors: definitions, access, audit });
  registerToolsRoutes(app, { tools, access, audit });
  registerHealthRoutes(app, { health, access });
  registerBillingRoutes(app, { billing, access, audit, now });
  await registerMcpRoutes(app, {
    mcp,
    access: createMcpAccess({ publicUrl, resolveBearer }),
    serverInfo: { name: 'toolhub', title: 'Toolhub', version: VERSION },
    onError,
  });
  return {
    billing,
    handlers: [...billing.jobs.handlers, ...mcp.jobs.handlers, ...health.jobs.handlers],
    cron: [...billing.jobs.cron, ...mcp.jobs.cron, ...health.jobs.cron],
    async close() {
      await mcp.close();
      await tools.close();
      await billing.close();
      await connectors.close();
    },
  };
}

/** What a month cost, on paper and by mail. */
function addInvoices(
  { app, config, database, audit, mailer, newId, now }: Base,
  parts: { definitions: readonly Connector[]; accounts: Accounts; emitEvent: EmitEvent },
): Part {
  const { publicUrl } = config.server;
  const titles = new Map(parts.definitions.map(({ id, title }) => [id, title]));
  const invoices = createInvoiceService({
    ...{ database, mailer, publicUrl, newId, now },
    issuer: issuerOf({ from: config.mail.from, publicUrl }),
    emitEvent: parts.emitEvent,
    platformTitle: (platform) => titles.get(platform) ?? platform,
    onError: (error, context) => app.log.error({ err: error, ...context }, 'an invoice failed'),
  });
  registerInvoiceRoutes(app, { invoices, access: parts.accounts.access, audit });
  return { ...invoices.jobs, close: () => mailer.close() };
}

/** Messages that platforms send by themselves. */
async function addInbound({ app, config, database, newId, now }: Base, emitEvent: EmitEvent): Promise<Part> {
  const inbound = createInboundService({
    ...{ database, emitEvent, newId, now },
    onProblem: (error, context) => app.log.error({ err: error, ...context }, 'a delivery cannot be read'),
  });
  await registerInboundRoutes(app, { inbound, whatsapp: config.whatsapp });
  return { ...inbound.jobs, close: () => Promise.resolve() };
}

/** What the operator sees and does. */
function addAdmin(
  { app, database, audit, now }: Base,
  { accounts, billing }: { accounts: Accounts; billing: BillingService },
): void {
  const admin = createAdminService({ database, billing, suspensions: accounts.suspensions, now });
  registerAdminRoutes(app, { admin, access: accounts.access, audit });
}

const openapi = {
  title: 'Toolhub',
  description: 'Tools for AI assistants: accounts, tokens, connections, usage.',
  securitySchemes: {
    bearer: { type: 'http', scheme: 'bearer', description: 'A personal token or an OAuth access token.' },
  },
  security: [{ bearer: [] }],
};
