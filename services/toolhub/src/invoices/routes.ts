import type { HeldLease } from '@libs/db';
import { cursorCodec, listPage, listQuery, listSchema, noteAudit, type PageQuery } from '@libs/http';
import { baseErrors } from '@libs/runtime';
import Type, { type Static } from 'typebox';
import type { Access } from '../customers/access.ts';
import { errors } from '../errors.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import { formatNumber } from './invoice.ts';
import { InvoiceSchema, invoiceExample, invoiceToApi } from './invoice-api.ts';
import { PERIOD_PATTERN, type Period } from './period.ts';
import type { RunCounts } from './run.ts';
import type { InvoiceService } from './service.ts';
import { INVOICE_STATUSES } from './states.ts';

export interface InvoiceRoutesDependencies {
  invoices: InvoiceService;
  access: Pick<Access, 'sessionOf'>;
  /** Aborted when the process stops: a run then leaves the rest to the next one. */
  drainSignal: AbortSignal;
}

const RunBody = Type.Object(
  {
    period: Type.String({ pattern: PERIOD_PATTERN, description: 'A month that is over, like 2026-10.' }),
    dry_run: Type.Boolean({ default: false, description: 'Tells what a run would do and does nothing.' }),
  },
  { additionalProperties: false, title: 'RunInvoices', examples: [{ period: '2026-10' }] },
);

const RunAnswer = Type.Object(
  {
    period: Type.String(),
    created: Type.Integer(),
    skipped: Type.Integer({ description: 'Customers that had their invoice already.' }),
    failed: Type.Integer({ description: 'Customers whose invoice could not be made, or not be mailed yet.' }),
    waiting: Type.Optional(
      Type.Integer({
        description:
          'Customers with calls of the month that are under way or not counted yet: the monthly job makes their invoices. Absent where there are none.',
      }),
    ),
    dry_run: Type.Optional(Type.Literal(true)),
    total_cents: Type.Optional(
      Type.Integer({ description: 'Of a dry run: the sum of the invoices to come.' }),
    ),
  },
  { title: 'InvoiceRun', examples: [{ period: '2026-10', created: 12, skipped: 0, failed: 0 }] },
);

const Params = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 100, examples: [invoiceExample.id] }),
});
const CustomerParams = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 100, examples: [invoiceExample.customer_id] }),
});
const cursor = cursorCodec(Type.Object({ id: Type.String({ pattern: '^inv_[0-9a-z]{26}$' }) }));

export function registerInvoiceRoutes(routes: ToolhubRoutes, deps: InvoiceRoutesDependencies): void {
  registerReading(routes, deps);
  registerRun(routes, deps);
  registerMoves(routes, deps);
}

function registerReading(routes: ToolhubRoutes, { invoices, access }: InvoiceRoutesDependencies): void {
  const list = (customerId: string, query: PageQuery) =>
    listPage(query, {
      cursor,
      read: ({ from, limit }) => invoices.list({ customerId, before: from?.id, limit }),
      positionOf: ({ id }) => ({ id }),
      show: (invoice) => invoiceToApi(invoice, invoices.seller),
    });
  routes.get(
    '/api/invoices',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'invoices.list',
        tags: ['Billing'],
        summary: 'Your invoices',
        description: 'Newest first; one for each month.',
        querystring: listQuery(),
        response: { 200: listSchema(InvoiceSchema) },
      },
    },
    (request) => list(access.sessionOf(request).customerId, request.query),
  );
  routes.get(
    '/api/admin/customers/:id/invoices',
    {
      access: 'admin',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'admin.list_invoices',
        tags: ['Admin'],
        summary: 'The invoices of a customer',
        description: 'Newest first; also of a customer whose account is closed.',
        params: CustomerParams,
        querystring: listQuery(),
        response: { 200: listSchema(InvoiceSchema) },
      },
    },
    (request) => list(request.params.id, request.query),
  );
  routes.get(
    '/api/admin/invoices',
    {
      access: 'admin',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'admin.list_all_invoices',
        tags: ['Admin'],
        summary: 'The invoices of all customers',
        description: 'Newest first; also those of customers whose account is closed.',
        querystring: listQuery({
          status: Type.Optional(Type.Enum([...INVOICE_STATUSES], { type: 'string' })),
        }),
        response: { 200: listSchema(InvoiceSchema) },
      },
    },
    ({ query }) =>
      listPage(query, {
        cursor,
        read: ({ from, limit }) => invoices.listAll({ status: query.status, before: from?.id, limit }),
        positionOf: ({ id }) => ({ id }),
        show: (invoice) => invoiceToApi(invoice, invoices.seller),
      }),
  );
  routes.get(
    '/api/invoices/:id',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'invoices.get',
        tags: ['Billing'],
        summary: 'One invoice',
        description: 'With its lines: the price of the plan, and calls by platform.',
        params: Params,
        response: { 200: InvoiceSchema },
      },
    },
    async (request) => {
      const { customerId } = access.sessionOf(request);
      return invoiceToApi(await invoices.find({ customerId, id: request.params.id }), invoices.seller);
    },
  );
  routes.get(
    '/api/invoices/:id/pdf',
    {
      access: 'account:read',
      rate: 'dear',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'invoices.get_pdf',
        tags: ['Billing'],
        summary: 'One invoice as PDF',
        description: 'The same that was mailed.',
        params: Params,
        produces: { type: 'application/pdf', description: 'The document.', example: '%PDF-1.7 …' },
      },
    },
    async (request, reply) => {
      const { customerId } = access.sessionOf(request);
      const invoice = await invoices.find({ customerId, id: request.params.id });
      return reply
        .type('application/pdf')
        .header('content-disposition', `attachment; filename="${formatNumber(invoice.number)}.pdf"`)
        .header('cache-control', 'private, no-store')
        .send(await invoices.render(invoice));
    },
  );
}

function registerRun(routes: ToolhubRoutes, deps: InvoiceRoutesDependencies): void {
  const { invoices, drainSignal } = deps;
  routes.post(
    '/api/admin/invoices/run',
    {
      access: 'admin',
      rate: 'api',
      audit: { action: 'invoices.run' },
      idempotency: 'natural',
      codes: ['locked', 'period_not_ended'],
      schema: {
        operationId: 'admin.run_invoices',
        tags: ['Admin'],
        summary: 'Make and send the invoices of a month',
        description: 'Answers when it is done. What an earlier run did is left as it is.',
        body: RunBody,
        response: { 200: RunAnswer },
      },
    },
    async (request) => {
      const { period, dry_run: isDry } = request.body;
      noteAudit(request, isDry ? { action: 'invoices.dry_run', target: period } : { target: period });
      if (isDry) {
        const { totalCents, ...counts } = endedOrThrow(await invoices.dryRun(period), period);
        return { period, ...countsOf(counts), dry_run: true as const, total_cents: totalCents };
      }
      const outcome = endedOrThrow(await invoices.run(period, { signal: drainSignal }), period);
      const isDone = outcome.kind === 'done';
      if (isDone) return { period, ...countsOf(outcome) };
      throw outcome.kind === 'interrupted' && drainSignal.aborted
        ? baseErrors.shutting_down({ retryAfterSeconds: 1 })
        : lockedError(outcome);
    },
  );
}

/** Says who is at it, and when the lock ends by itself should that run be dead. */
function lockedError(
  outcome: { kind: 'locked'; by: HeldLease | undefined } | { kind: 'interrupted' },
): Error {
  const by = outcome.kind === 'locked' ? outcome.by : undefined;
  if (by === undefined) return errors.locked();
  const until = by.until.toISOString();
  return errors.locked({
    detail: `Another run holds the lock: ${by.holder}, until ${until} unless it goes on or ends before.`,
    extra: { holder: by.holder, held_until: until },
  });
}

function countsOf({ created, skipped, failed, waiting }: RunCounts) {
  return { created, skipped, failed, ...(waiting === undefined ? {} : { waiting }) };
}

function endedOrThrow<Outcome extends { kind: string }>(
  outcome: Outcome,
  period: Period,
): Exclude<Outcome, { kind: 'not_ended' }> {
  if (outcome.kind !== 'not_ended') return outcome as Exclude<Outcome, { kind: 'not_ended' }>;
  throw errors.period_not_ended({
    detail: `${period} is not over yet.`,
    errors: [{ pointer: '/period', code: 'not_ended', detail: 'Must be a month that is over, in UTC.' }],
  });
}

function registerMoves(routes: ToolhubRoutes, deps: InvoiceRoutesDependencies): void {
  const { invoices } = deps;
  const moves = [
    {
      path: 'mark-paid',
      action: 'invoice.paid',
      operationId: 'admin.mark_invoice_paid',
      summary: 'Mark an invoice as paid',
      description: 'Once its money has arrived; a repeat changes nothing.',
      codes: ['invoice_not_payable'],
      move: invoices.markPaid,
    },
    {
      path: 'void',
      action: 'invoice.voided',
      operationId: 'admin.void_invoice',
      summary: 'Void an invoice',
      description: 'It stays listed and is not to be paid any more.',
      codes: ['invoice_not_voidable'],
      move: invoices.void,
    },
  ] as const;
  for (const { path, action, operationId, summary, description, codes, move } of moves) {
    routes.post(
      `/api/admin/invoices/:id/${path}`,
      {
        access: 'admin',
        rate: 'api',
        audit: { action, targetParam: 'id' },
        idempotency: 'natural',
        codes,
        schema: {
          operationId,
          tags: ['Admin'],
          summary,
          description,
          params: Params,
          response: { 200: InvoiceSchema },
        },
      },
      async (request) => {
        const invoice = await move((request.params as Static<typeof Params>).id);
        noteAudit(request, { subject: invoice.customerId });
        return invoiceToApi(invoice, invoices.seller);
      },
    );
  }
}
