import { registerBillingRoutes } from '../billing/routes.ts';
import { type BillingService, createBillingService } from '../billing/service.ts';
import type { EmitEvent } from '../events/service.ts';
import { createMcpAccess } from '../mcp/access.ts';
import { registerMcpRoutes } from '../mcp/routes.ts';
import { createMcpService } from '../mcp/service.ts';
import { createAccountTools } from '../tools/account-tools.ts';
import { createCatalogue } from '../tools/catalogue.ts';
import { registerToolsRoutes } from '../tools/routes.ts';
import { createToolsService } from '../tools/service.ts';
import type { Accounts } from './accounts.ts';
import { type Base, type Part, VERSION } from './base.ts';
import type { Platforms } from './platforms.ts';

/** The tools, what calls cost, and the endpoint that AI clients talk to. */
export async function addTools(
  base: Base,
  { platforms, accounts, emitEvent }: { platforms: Platforms; accounts: Accounts; emitEvent: EmitEvent },
): Promise<Part & { billing: BillingService }> {
  const { app, config, database, rates, audit, newId, now } = base;
  const { publicUrl } = config.server;
  const { definitions, connectors, credentials, internalAccounts, health } = platforms;
  const { access, resolveBearer } = accounts;
  const onError = (error: unknown, context?: object) =>
    app.log.error({ err: error, ...context }, 'a call failed');
  const billing = createBillingService({ database, newId, now, emitEvent, onError });
  const tools = await createToolsService({
    ...{ database, now },
    catalogue: createCatalogue({
      connectors: definitions,
      accountTools: createAccountTools({ connectors, credentials, health, now }),
      internalAccounts: internalAccounts.names,
    }),
  });
  const callRate = rates.limit({ name: 'calls', limit: config.rate.callsPerSecond });
  const mcp = await createMcpService({
    ...{ database, publicUrl, tools, credentials, connectors, audit, emitEvent, onError },
    meter: billing.meter,
    takeRate: callRate.take,
  });

  registerToolsRoutes(app, { tools, access, audit });
  registerBillingRoutes(app, { billing, access, audit, now });
  await registerMcpRoutes(app, {
    ...{ mcp, onError },
    access: createMcpAccess({ publicUrl, resolveBearer }),
    serverInfo: { name: 'toolhub', title: 'Toolhub', version: VERSION },
  });
  return {
    billing,
    handlers: [...billing.jobs.handlers, ...mcp.jobs.handlers],
    cron: [...billing.jobs.cron, ...mcp.jobs.cron],
    async close() {
      await mcp.close();
      await tools.close();
      await billing.close();
    },
  };
}
