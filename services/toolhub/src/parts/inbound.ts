import type { EmitEvent } from '../events/event.ts';
import { registerInboundRoutes } from '../inbound/routes.ts';
import { createInboundService } from '../inbound/service.ts';
import type { Accounts } from './accounts.ts';
import type { Base, Part } from './base.ts';

/** Messages that platforms send by themselves. */
export async function addInbound(
  { app, config, database, newId, now }: Base,
  { accounts, emitEvent }: { accounts: Pick<Accounts, 'routesOn'>; emitEvent: EmitEvent },
): Promise<Part> {
  const inbound = createInboundService({
    ...{ database, emitEvent, newId, now },
    onProblem: (error, context) => app.log.error({ err: error, ...context }, 'a delivery cannot be read'),
  });
  await registerInboundRoutes(app, {
    ...{ inbound, routesOn: accounts.routesOn },
    whatsapp: config.whatsapp,
  });
  return { ...inbound.jobs, close: () => Promise.resolve() };
}
