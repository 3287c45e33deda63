import { createLoggedOutage } from '@libs/runtime';
import { createArgumentsVault } from '../approvals/arguments.ts';
import { createApprovalMails } from '../approvals/mails.ts';
import { registerApprovalRoutes } from '../approvals/routes.ts';
import { createRuleBook } from '../approvals/rules.ts';
import { createApprovals } from '../approvals/service.ts';
import { createShownArguments } from '../approvals/shown-arguments.ts';
import { registerBillingRoutes } from '../billing/routes.ts';
import { type BillingService, createBillingService } from '../billing/service.ts';
import { addDays } from '../billing/usage/rollup-ranges.ts';
import { createArgumentsMarks } from '../calls/arguments-mark.ts';
import { hasBegun } from '../calls/idempotency.ts';
import { registerCallRoutes } from '../calls/routes.ts';
import type { CredentialService } from '../credentials/service.ts';
import { type ExportSection, pagesOf, shown } from '../data-export/section.ts';
import type { EmitEvent } from '../events/event.ts';
import { reckonMonth } from '../invoices/reckoning.ts';
import { createMcpAccess } from '../mcp/access.ts';
import { createRequestLimit } from '../mcp/request-limit.ts';
import { registerMcpRoutes } from '../mcp/routes.ts';
import type { ServerExtension } from '../mcp/sdk-path.ts';
import { createMcpService, USUAL_VIEW } from '../mcp/service.ts';
import { createAccountTools } from '../tools/account-tools.ts';
import { createCatalogue } from '../tools/catalogue.ts';
import { registerToolsRoutes } from '../tools/routes.ts';
import { createSearchTools } from '../tools/search-tools.ts';
import { createToolsService, type ToolsService } from '../tools/service.ts';
import type { Accounts } from './accounts.ts';
import { type Base, type Part, VERSION } from './base.ts';
import type { Platforms } from './platforms.ts';

const DAY_MS = 24 * 60 * 60_000;
/** As far back as usage can be asked for at once. */
const USAGE_DAYS = 400;

/** Other times and additions than the service runs with, for tests. */
export interface ToolsOptions {
  callTimeoutMs?: number;
  extension?: ServerExtension;
  /** Told of what is logged otherwise. */
  onError?: (error: unknown) => void;
}

export type Tools = Part & { billing: BillingService; tools: ToolsService };

/** The tools, what calls cost, and the endpoint that AI clients talk to. */
export async function addTools(
  base: Base,
  parts: {
    platforms: Pick<Platforms, 'definitions' | 'connectors' | 'internalAccounts' | 'health'> & {
      connections: Pick<Platforms['connections'], 'platformsOf' | 'subscribe'>;
    } & {
      credentials: Pick<
        CredentialService,
        'open' | 'openAfterRefusal' | 'hold' | 'list' | 'internalAccounts'
      >;
    };
    accounts: Pick<Accounts, 'access' | 'routes' | 'routesOn' | 'resolveBearer' | 'clientOf'> & {
      customers: Pick<Accounts['customers'], 'find'>;
    };
    emitEvent: EmitEvent;
  },
  options: ToolsOptions = {},
): Promise<Tools> {
  const { app, config, database, rates, changes, metrics, audit, sealer, noticeMailer, newId, now } = base;
  const { platforms, accounts, emitEvent } = parts;
  const { callTimeoutMs, extension } = options;
  const { publicUrl } = config.server;
  const { definitions, connectors, connections, credentials, internalAccounts, health } = platforms;
  const { access, routes, routesOn, resolveBearer } = accounts;
  const logError = (error: unknown, context?: object) =>
    app.log.error({ err: error, ...context }, 'a call failed');
  const onError = options.onError ?? logError;
  const billing = createBillingService({ database, newId, now, emitEvent, onError, reckonMonth });
  const ruleBook = createRuleBook({ database, changes, now });
  const tools = createToolsService({
    ...{ database, changes, connections, ruleBook, now },
    catalogue: createCatalogue({
      connectors: definitions,
      accountTools: createAccountTools({ connectors, credentials, health, now }),
      searchTools: createSearchTools(definitions.map(({ id }) => id)),
      internalAccounts: internalAccounts.names,
    }),
  });
  const vault = createArgumentsVault(sealer);
  const marks = createArgumentsMarks(sealer);
  const approvalMails = createApprovalMails({
    ...{ schema: database.schema, database, mailer: noticeMailer, publicUrl, now },
    customers: accounts.customers,
  });
  const approvals = createApprovals({
    ...{ database, ruleBook, vault, audit, marks, newId, now },
    mails: approvalMails,
    clientOf: accounts.clientOf,
    hasBegun: (call) => hasBegun(database, call),
    rulesOf(customerId) {
      const choices = tools.selectionOf(customerId);
      return choices instanceof Promise ? choices.then((loaded) => loaded.approvals) : choices.approvals;
    },
  });
  const shownArguments = createShownArguments({ database, vault });
  const callRate = rates.limit({ name: 'calls', limit: config.rate.callsPerSecond });
  const mcp = createMcpService({
    ...{ database, changes, publicUrl, tools, credentials, connectors, audit, emitEvent, newId, onError },
    meter: billing.meter,
    approvals,
    marks,
    callRate,
    metrics,
    ...(callTimeoutMs === undefined ? {} : { callTimeoutMs }),
  });

  registerToolsRoutes(routes, { tools, access });
  registerCallRoutes(routes, {
    callTool: mcp.callTool,
    listFor: (session) => mcp.listFor(session, USUAL_VIEW),
    access,
  });
  registerApprovalRoutes(routes, {
    ...{ approvals, ruleBook, catalogue: tools.catalogue, shownArguments, access, now },
  });
  registerBillingRoutes(routes, { billing, access, now });
  await registerMcpRoutes(app, {
    ...{ mcp, routesOn, onError },
    streamsUnchecked: createLoggedOutage(app.log, {
      began: 'tokens of open streams cannot be checked; trying on',
      ended: 'tokens of open streams are checked again',
    }),
    requestLimit: createRequestLimit(rates, config.rate.callsPerSecond),
    access: createMcpAccess({ server: config.server, resolveBearer }),
    serverInfo: { name: 'toolhub', title: 'Toolhub', version: VERSION },
    ...(extension === undefined ? {} : { extension }),
  });
  const exports: ExportSection[] = [
    {
      name: 'tools',
      one: async (customerId) =>
        (await tools.states(customerId)).map(({ tool, enabled }) => ({ name: tool.name, enabled })),
    },
    {
      name: 'approval_rules',
      one: async (customerId) => shown(await ruleBook.rulesOf(customerId), ['send', 'deletion', 'tools']),
    },
    {
      name: 'approvals',
      async *pages(customerId) {
        const read = (page: { before: string | undefined; limit: number }) =>
          approvals.list({ customerId, status: undefined, ...page });
        for await (const page of pagesOf(read, ({ id }) => id))
          for (const approval of page)
            yield [
              {
                ...shown(approval, ['id', 'tool', 'client', 'status', 'createdAt', 'expiresAt', 'decidedAt']),
                arguments: (await shownArguments.abridged(approval))?.value ?? null,
              },
            ];
      },
    },
    {
      name: 'plan',
      one: async (customerId) =>
        shown(await billing.planState(customerId), ['plan', 'limit', 'used', 'spendCapCents', 'resetsAt']),
    },
    ...(['day', 'tool'] as const).map(
      (group): ExportSection => ({
        name: `usage_by_${group}`,
        one: async (customerId) => {
          const to = new Date(now().getTime() + DAY_MS).toISOString().slice(0, 10);
          const { groups } = await billing.usage({ customerId, from: addDays(to, -USAGE_DAYS), to, group });
          return groups.map((each) => shown(each, ['key', 'calls', 'errors', 'p50Ms', 'p95Ms']));
        },
      }),
    ),
  ];
  return {
    billing,
    tools,
    exports,
    handlers: [
      ...billing.jobs.handlers,
      ...mcp.jobs.handlers,
      ...approvals.handlers,
      ...approvalMails.handlers,
    ],
    cron: [...billing.jobs.cron, ...mcp.jobs.cron, ...approvals.cron],
    async close() {
      await mcp.close();
      await billing.close();
    },
  };
}
