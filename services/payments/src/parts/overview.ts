import { createClocks } from '../clock/service.ts';
import { registerOverviewRoutes } from '../overview/routes.ts';
import { createOverviews, type Overviews } from '../overview/service.ts';
import type { Base, Part } from './base.ts';
import type { WebhooksPart } from './webhooks.ts';

export type OverviewPart = Part & Pick<Overviews, 'sweep'>;

/** What people see of all of it at once. */
export function addOverview(base: Base, { webhooks }: Pick<WebhooksPart, 'webhooks'>): OverviewPart {
  const { database, databases, now } = base;
  const clocks = createClocks({ now });
  const overviews = createOverviews({ database, databases, webhooks, clocks, now });
  return {
    sweep: overviews.sweep,
    routes: (_app, routes) => registerOverviewRoutes(routes, { overviews, now }),
    handlers: [overviews.handler],
    cron: [overviews.cron],
    close: () => Promise.resolve(),
  };
}
