import type { Connector } from '../connectors/connector.ts';
import type { EmitEvent } from '../events/event.ts';
import { issuerOf } from '../invoices/issuer.ts';
import { registerInvoiceRoutes } from '../invoices/routes.ts';
import { createInvoiceService } from '../invoices/service.ts';
import type { Accounts } from './accounts.ts';
import type { Base, Part } from './base.ts';

/** What a month cost, on paper and by mail. */
export function addInvoices(
  { app, config, database, mailer, newId, now }: Base,
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
  const { access, routes } = parts.accounts;
  registerInvoiceRoutes(routes, { invoices, access, drainSignal: app.drainSignal });
  return { ...invoices.jobs, close: () => mailer.close() };
}
