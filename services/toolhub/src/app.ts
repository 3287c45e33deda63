import { type Database, observePools } from '@libs/db';
import type { App } from '@libs/http';
import { createBackground, createJobMetrics } from '@libs/jobs';
import { createLoggedOutage, type Metrics } from '@libs/runtime';
import type { Config } from './config.ts';
import type { Connector } from './connectors/connector.ts';
import { registerExportRoutes } from './data-export/routes.ts';
import { createNotices } from './mail/notices.ts';
import type { FetchDocument } from './oauth/provider/provider.ts';
import { registerDashboard } from './pages.ts';
import { addAccounts } from './parts/accounts.ts';
import { addAdmin } from './parts/admin.ts';
import { type Base, createBase, type Part } from './parts/base.ts';
import { addConnect } from './parts/connect.ts';
import { addInbound } from './parts/inbound.ts';
import { addInvoices } from './parts/invoices.ts';
import { addPlatforms } from './parts/platforms.ts';
import { addRotation } from './parts/rotation.ts';
import { addTools } from './parts/tools.ts';
import { addWebhooks, type WebhookOptions } from './parts/webhooks.ts';
import { SCHEMA } from './schema.ts';

export interface ToolhubDependencies {
  config: Config;
  database: Database;
  connectors: readonly Connector[];
  /** What `/metrics` shows; features add theirs to it. */
  metrics?: Metrics;
  now?: () => Date;
  /** How documents of OAuth clients are fetched; through the guard unless told otherwise. */
  fetchDocument?: FetchDocument;
  webhooks?: WebhookOptions;
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

/** The whole service from its parts; each part builds features from what they need, and nothing is global. */
export async function createToolhub(options: ToolhubDependencies): Promise<Toolhub> {
  const base = await createBase(options);
  const parts = await addParts(base, options);
  observePools(base.metrics, { all: base.database });
  const background = addBackground(base, parts);
  return {
    app: base.app,
    startJobs: () => background.start(),
    stopJobs: () => background.stop(),
    async close() {
      // A start that failed half-way never came to drain.
      await background.stop();
      for (const part of parts) await part.close();
      await base.changes.close();
      await base.audit.close();
      await base.rates.close();
    },
  };
}

function addBackground({ app, database, metrics, now }: Base, parts: readonly Part[]) {
  const jobMetrics = createJobMetrics({
    ...{ metrics, database, handlers: parts.flatMap(({ handlers }) => handlers) },
    onError: (error) => app.log.warn({ err: error }, 'the queues could not be counted'),
  });
  return createBackground(parts, {
    ...{ database, metrics: jobMetrics, now },
    onError: (error, context) => app.log.error({ err: error, ...context }, 'job failed'),
    outage: createLoggedOutage(app.log, {
      began: 'jobs cannot be taken; trying on',
      ended: 'jobs are taken again',
    }),
  });
}

/** In the order in which they end: what others lean on comes last. */
async function addParts(base: Base, options: ToolhubDependencies): Promise<Part[]> {
  const { connectors: definitions } = options;
  const accounts = await addAccounts(base, { definitions, fetchDocument: options.fetchDocument });
  const webhooks = addWebhooks(base, accounts, options.webhooks);
  const notices = createNotices({
    ...{ schema: SCHEMA, mailer: base.noticeMailer, publicUrl: base.config.server.publicUrl },
    customers: accounts.customers,
    // Asked when a mail leaves, long after all parts are there.
    stopsAtLimit: async (customerId) => (await tools.billing.planState(customerId)).stopsAtLimit,
  });
  const emitEvent = notices.withMail(webhooks.emitEvent);
  const platforms = addPlatforms(base, { definitions, accounts, emitEvent });
  const tools = await addTools(base, { platforms, accounts, emitEvent });
  const connect = addConnect(base, { platforms, tools, accounts });
  const invoices = addInvoices(base, { definitions, accounts, emitEvent });
  const inbound = await addInbound(base, { accounts, platforms, emitEvent });
  addAdmin(base, { accounts, billing: tools.billing });
  const withData = [accounts, platforms, tools, webhooks, invoices, inbound];
  registerExportRoutes(accounts.routes, {
    sections: withData.flatMap(({ exports = [] }) => exports),
    ...{ access: accounts.access, now: base.now },
  });
  registerDashboard(base.app);
  const mails: Part = { handlers: notices.handlers, cron: [], close: () => Promise.resolve() };
  return [mails, webhooks, invoices, inbound, connect, tools, platforms, accounts, addRotation(base)];
}
