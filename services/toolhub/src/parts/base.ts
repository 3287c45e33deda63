import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Changes, type Database, isAwayFrom, isServerMissing, openChanges } from '@libs/db';
import { registerGuides } from '@libs/docs';
import { type App, createApp, postgresRateStore, RateLimits } from '@libs/http';
import type { BackgroundPart } from '@libs/jobs';
import { createMailer, createNoticeMailer, type Mailer } from '@libs/mail';
import { createLoggedOutage, type Metrics } from '@libs/runtime';
import { createIdFactory, createSealer, isKeyMissing, type NewId, type Sealer } from '@libs/seal';
import { type AuditService, createAuditService } from '../audit/service.ts';
import type { Config } from '../config.ts';
import type { Connector } from '../connectors/connector.ts';
import type { ExportSection } from '../data-export/section.ts';
import { errors } from '../errors.ts';
import { toolhubDocs } from '../guides/site.ts';
import { checkReady } from '../readiness-store.ts';
import { problemMembers, webhookDescriptions } from '../reference.ts';
import { SCHEMA } from '../schema.ts';

/** What every feature is built from. */
export interface Base {
  app: App;
  config: Config;
  database: Database;
  rates: RateLimits;
  /** What all processes must hear within a second. */
  changes: Changes;
  /** Behind `/metrics`; a feature that counts something of its own adds it here. */
  metrics: App['metrics'];
  audit: AuditService;
  sealer: Sealer;
  /** Mail of the service itself, to its customers. */
  mailer: Mailer;
  /** The same, for mails that end with an address that does not exist. */
  noticeMailer: Pick<Mailer, 'send'>;
  newId: NewId;
  now: () => Date;
}

/** One or more features that are in place: what runs in the background for them, and how they end. */
export interface Part extends BackgroundPart {
  /** What it keeps of a customer, for the file that the customer can have of everything. */
  exports?: readonly ExportSection[];
  close(): Promise<void>;
}

export const VERSION = '0.1.0';

export async function createBase({
  config,
  database,
  connectors = [],
  metrics,
  now = () => new Date(),
}: {
  config: Config;
  database: Database;
  /** The platforms, which the guides list. */
  connectors?: readonly Connector[];
  metrics?: Metrics;
  now?: () => Date;
}): Promise<Base> {
  const { publicUrl, logLevel, trustProxy } = config.server;
  const app = await createApp({
    name: 'toolhub',
    version: VERSION,
    publicUrl,
    logLevel,
    ...(trustProxy === undefined ? {} : { trustProxy }),
    errors,
    openapi,
    docs: (app) => registerGuides(app, toolhubDocs(config, connectors)),
    ...(metrics === undefined ? {} : { metrics }),
    checkHosts: true,
    metricsAccess: config.metricsAccess,
    readiness: () => checkReady(database),
    isOutage: (error) =>
      isAwayFrom(database, error) || isServerMissing(database, error) || isKeyMissing(error),
    declaredRoutesOnly: true,
  });
  const newId = createIdFactory({ now, randomBytes });
  const rates = new RateLimits({
    store: postgresRateStore({ query: (text, values) => database.query(text, values), schema: SCHEMA }),
    outage: createLoggedOutage(app.log, {
      ...{ level: 'warn', began: 'rate limits are local', ended: 'rate limits are shared again' },
    }),
  });
  await rates.start();
  const changes = await openChanges({
    database,
    onError: (error) => app.log.error({ err: error }, 'a change could not be taken in'),
    outage: createLoggedOutage(app.log, {
      began: 'changes cannot be told or heard; trying on',
      ended: 'changes are told and heard again',
    }),
  });
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
  const noticeMailer = createNoticeMailer(mailer, (error, mail) =>
    app.log.warn({ err: error, mail }, 'the recipient of a mail is refused for good'),
  );
  return {
    ...{ app, config, database, rates, changes, metrics: app.metrics, audit, sealer, mailer, noticeMailer },
    ...{ newId, now },
  };
}

const openapi = {
  title: 'Toolhub',
  description: 'Tools for AI assistants: accounts, tokens, connections, usage.',
  tags: [
    { name: 'Account', description: 'Signing up, logging in, sessions and passwords.' },
    { name: 'Tokens', description: 'Personal tokens for clients and scripts of your own.' },
    { name: 'AI clients', description: 'Clients that are connected by OAuth.' },
    { name: 'Credentials', description: 'The accounts at platforms that tools act on.' },
    { name: 'Tools', description: 'What AI clients can call, and its switches.' },
    { name: 'Approvals', description: 'Calls that wait for a person.' },
    { name: 'Webhooks', description: 'Have events sent to you, signed.' },
    { name: 'Billing', description: 'Plans, usage and invoices.' },
    { name: 'Audit', description: 'Who did what.' },
    { name: 'Health', description: 'How the platforms are.' },
    { name: 'Admin', description: 'For the operator.' },
  ],
  securitySchemes: {
    bearer: { type: 'http', scheme: 'bearer', description: 'A personal token or an OAuth access token.' },
    cookie: {
      ...{ type: 'apiKey', in: 'cookie', name: 'toolhub_session' },
      description: 'The session of a person who is logged in; `__Host-toolhub_session` on https.',
    },
  },
  security: [{ bearer: [] }],
  problemMembers,
  webhooks: webhookDescriptions,
};
