import { tableSection } from '../data-export/table-section.ts';
import type { EmitEvent } from '../events/event.ts';
import { discordApp } from '../inbound/apps/discord.ts';
import { createInboundApps } from '../inbound/apps/service.ts';
import { slackApp } from '../inbound/apps/slack.ts';
import { RECEIVED_TABLES } from '../inbound/exported.ts';
import { registerInboundRoutes } from '../inbound/routes.ts';
import { createInboundService } from '../inbound/service.ts';
import { createTelegramPolling } from '../inbound/telegram-polling.ts';
import type { Accounts } from './accounts.ts';
import type { Base, Part } from './base.ts';
import type { Platforms } from './platforms.ts';

/** Messages that platforms send by themselves. */
export async function addInbound(
  { app, config, database, newId, now }: Base,
  {
    accounts,
    platforms: { connectors, credentials },
    emitEvent,
  }: {
    accounts: Pick<Accounts, 'routesOn'>;
    platforms: Pick<Platforms, 'connectors' | 'credentials'>;
    emitEvent: EmitEvent;
  },
): Promise<Part> {
  const onProblem = (error: unknown, context: object) =>
    app.log.error({ err: error, ...context }, 'a delivery cannot be read');
  const inbound = createInboundService({ database, emitEvent, newId, now, onProblem });
  const { slackSigningSecret, discordPublicKeys } = config.inbound;
  const arrivals = createInboundApps({
    ...{ database, emitEvent, now, onProblem },
    apps: [slackApp(slackSigningSecret), discordApp(discordPublicKeys)],
  });
  const polling = createTelegramPolling({
    ...{ database, connectors, credentials, emitEvent },
    onError: (error, context) => app.log.error({ err: error, ...context }, 'messages cannot be collected'),
  });
  await registerInboundRoutes(app, {
    ...{ inbound, arrivals, now, routesOn: accounts.routesOn },
    telegram: { database, connectors, emitEvent },
    whatsapp: config.whatsapp,
  });
  const jobs = [inbound.jobs, arrivals.jobs, polling];
  return {
    handlers: jobs.flatMap(({ handlers }) => handlers),
    cron: jobs.flatMap(({ cron }) => cron),
    exports: RECEIVED_TABLES.map((table) => tableSection(database, table)),
    close: () => Promise.resolve(),
  };
}
