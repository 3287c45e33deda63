import type { Connector } from '../connectors/connector.ts';
import { titlesOf } from '../connectors/titles.ts';
import { pagesOf, shown } from '../data-export/section.ts';
import type { EmitEvent } from '../events/event.ts';
import { registerDetailsRoutes } from '../invoices/details-routes.ts';
import { invoiceToApi } from '../invoices/invoice-api.ts';
import { createRunCounter } from '../invoices/metrics.ts';
import { sellerOf } from '../invoices/parties.ts';
import { registerInvoiceRoutes } from '../invoices/routes.ts';
import { createInvoiceService } from '../invoices/service.ts';
import type { Accounts } from './accounts.ts';
import type { Base, Part } from './base.ts';

/** What a month cost, on paper and by mail. */
export function addInvoices(
  { app, config, database, mailer, metrics, newId, now }: Base,
  parts: { definitions: readonly Connector[]; accounts: Accounts; emitEvent: EmitEvent },
): Part {
  const { publicUrl } = config.server;
  const invoices = createInvoiceService({
    ...{ database, mailer, publicUrl, newId, now, countRun: createRunCounter(metrics) },
    seller: sellerOf({ from: config.mail.from, publicUrl, ...config.seller }),
    emitEvent: parts.emitEvent,
    platformTitle: titlesOf(parts.definitions),
    onError: (error, context) => app.log.error({ err: error, ...context }, 'an invoice failed'),
  });
  const { access, routes } = parts.accounts;
  registerInvoiceRoutes(routes, { invoices, access, drainSignal: app.drainSignal });
  registerDetailsRoutes(routes, { invoices, access });
  return {
    ...invoices.jobs,
    exports: [
      {
        name: 'billing_details',
        one: async (customerId) => shown(await invoices.details(customerId), ['company', 'address', 'taxId']),
      },
      {
        name: 'invoices',
        async *pages(customerId) {
          const read = (page: { before: string | undefined; limit: number }) =>
            invoices.list({ customerId, ...page });
          for await (const page of pagesOf(read, ({ id }) => id))
            yield page.map((invoice) => invoiceToApi(invoice, invoices.seller));
        },
      },
    ],
    close: () => mailer.close(),
  };
}
