import { type App, cursorCodec, listQuery, listSchema, toPage } from '@libs/http';
import { baseErrors } from '@libs/runtime';
import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import type { AuditService } from '../audit/service.ts';
import type { Access } from '../customers/access.ts';
import { errors } from '../errors.ts';
import { formatNumber, type Invoice } from './invoice.ts';
import type { HeldLock } from './lock-store.ts';
import { PERIOD_PATTERN, type Period } from './period.ts';
import type { InvoiceService } from './service.ts';
import { INVOICE_STATUSES } from './states.ts';

export interface InvoiceRoutesDependencies {
  invoices: InvoiceService;
  access: Pick<Access, 'customer' | 'admin' | 'sessionOf'>;
  audit: Pick<AuditService, 'record'>;
}

const moment = Type.String({ format: 'date-time' });
const momentOrNull = Type.Union([moment, Type.Null()]);

const InvoiceSchema = Type.Object({
  id: Type.String(),
  number: Type.String({ description: 'In one series without gaps.' }),
  customer_id: Type.String(),
  period: Type.String({ description: 'A calendar month in UTC.' }),
  status: Type.Enum([...INVOICE_STATUSES], { type: 'string' }),
  currency: Type.String(),
  lines: Type.Array(
    Type.Object({
      platform: Type.Union([Type.String(), Type.Null()], { description: 'Null for the price of the plan.' }),
      description: Type.String(),
      quantity: Type.Integer(),
      amount_cents: Type.Integer(),
    }),
  ),
  total_cents: Type.Integer({ description: 'The sum of the lines.' }),
  issued_at: moment,
  sent_at: momentOrNull,
  paid_at: momentOrNull,
});

const RunBody = Type.Object(
  {
    period: Type.String({ pattern: PERIOD_PATTERN, description: 'A month that is over, like 2026-10.' }),
    dry_run: Type.Boolean({ default: false, description: 'Tells what a run would do and does nothing.' }),
  },
  { additionalProperties: false },
);

const RunAnswer = Type.Object({
  period: Type.String(),
  created: Type.Integer(),
  skipped: Type.Integer({ description: 'Customers that had their invoice already.' }),
  failed: Type.Integer({ description: 'Customers whose invoice could not be made, or not be mailed yet.' }),
  dry_run: Type.Optional(Type.Literal(true)),
  total_cents: Type.Optional(Type.Integer({ description: 'Of a dry run: the sum of the invoices to come.' })),
});

const Params = Type.Object({ id: Type.String({ minLength: 1, maxLength: 100 }) });
const cursor = cursorCodec(Type.Object({ id: Type.String({ pattern: '^inv_[0-9a-z]{26}$' }) }));

function toApi(invoice: Invoice): Static<typeof InvoiceSchema> {
  return {
    id: invoice.id,
    number: formatNumber(invoice.number),
    customer_id: invoice.customerId,
    period: invoice.period,
    status: invoice.status,
    currency: invoice.currency,
    lines: invoice.lines.map((line) => ({
      platform: line.platform,
      description: line.description,
      quantity: line.quantity,
      amount_cents: line.amountCents,
    })),
    total_cents: invoice.totalCents,
    issued_at: invoice.issuedAt.toISOString(),
    sent_at: invoice.sentAt?.toISOString() ?? null,
    paid_at: invoice.paidAt?.toISOString() ?? null,
  };
}

export function registerInvoiceRoutes(app: App, deps: InvoiceRoutesDependencies): void {
  registerReading(app, deps);
  registerRun(app, deps);
  registerMoves(app, deps);
}

function registerReading(app: App, { invoices, access }: InvoiceRoutesDependencies): void {
  async function list(customerId: string, query: { limit: number; cursor?: string }) {
    const { limit } = query;
    const before = cursor.decode(query.cursor)?.id;
    const rows = await invoices.list({ customerId, before, limit: limit + 1 });
    const page = toPage(rows, { limit, cursorOf: ({ id }) => cursor.encode({ id }) });
    return { ...page, data: page.data.map(toApi) };
  }
  app.get(
    '/api/invoices',
    {
      onRequest: access.customer('read'),
      schema: {
        tags: ['Billing'],
        summary: 'Your invoices, newest first',
        querystring: listQuery(),
        response: { 200: listSchema(InvoiceSchema) },
      },
    },
    (request) => list(access.sessionOf(request).customerId, request.query),
  );
  app.get(
    '/api/admin/customers/:id/invoices',
    {
      onRequest: access.admin,
      schema: {
        tags: ['Admin'],
        summary: 'The invoices of a customer, newest first',
        params: Params,
        querystring: listQuery(),
        response: { 200: listSchema(InvoiceSchema) },
      },
    },
    (request) => list(request.params.id, request.query),
  );
  app.get(
    '/api/invoices/:id',
    {
      onRequest: access.customer('read'),
      schema: {
        tags: ['Billing'],
        summary: 'One invoice',
        params: Params,
        response: { 200: InvoiceSchema },
      },
    },
    async (request) => {
      const { customerId } = access.sessionOf(request);
      return toApi(await invoices.find({ customerId, id: request.params.id }));
    },
  );
  app.get(
    '/api/invoices/:id/pdf',
    {
      onRequest: access.customer('read'),
      schema: { tags: ['Billing'], summary: 'One invoice as PDF', params: Params },
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

function registerRun(app: App, deps: InvoiceRoutesDependencies): void {
  const { invoices, access } = deps;
  app.post(
    '/api/admin/invoices/run',
    {
      onRequest: access.admin,
      schema: {
        tags: ['Admin'],
        summary: 'Make and send the invoices of a month',
        description: 'Answers when it is done. What an earlier run did is left as it is.',
        body: RunBody,
        response: { 200: RunAnswer },
      },
    },
    async (request) => {
      const { period, dry_run: isDry } = request.body;
      if (isDry) {
        const { totalCents, ...counts } = endedOrThrow(await invoices.dryRun(period), period);
        return { period, ...countsOf(counts), dry_run: true as const, total_cents: totalCents };
      }
      const outcome = endedOrThrow(await invoices.run(period, { signal: app.drainSignal }), period);
      const isDone = outcome.kind === 'done';
      await recordAction(request, deps, {
        customerId: 'internal',
        action: 'invoices.run',
        target: period,
        outcome: isDone ? 'success' : 'refused',
      });
      if (isDone) return { period, ...countsOf(outcome) };
      throw outcome.kind === 'interrupted' && app.drainSignal.aborted
        ? baseErrors.shutting_down({ retryAfterSeconds: 1 })
        : lockedError(outcome);
    },
  );
}

/** Says who is at it, and when the lock ends by itself should that run be dead. */
function lockedError(outcome: { kind: 'locked'; by: HeldLock | undefined } | { kind: 'interrupted' }): Error {
  const by = outcome.kind === 'locked' ? outcome.by : undefined;
  if (by === undefined) return errors.locked();
  const until = by.until.toISOString();
  return errors.locked({
    detail: `Another run holds the lock: ${by.holder}, until ${until} unless it goes on or ends before.`,
    extra: { holder: by.holder, held_until: until },
  });
}

function countsOf(counts: { created: number; skipped: number; failed: number }) {
  return { created: counts.created, skipped: counts.skipped, failed: counts.failed };
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

function registerMoves(app: App, deps: InvoiceRoutesDependencies): void {
  const { invoices, access } = deps;
  const moves = [
    {
      path: 'mark-paid',
      action: 'invoice.paid',
      summary: 'Mark an invoice as paid',
      move: invoices.markPaid,
    },
    { path: 'void', action: 'invoice.voided', summary: 'Void an invoice', move: invoices.void },
  ] as const;
  for (const { path, action, summary, move } of moves) {
    app.post(
      `/api/admin/invoices/:id/${path}`,
      {
        onRequest: access.admin,
        schema: { tags: ['Admin'], summary, params: Params, response: { 200: InvoiceSchema } },
      },
      async (request) => {
        const invoice = await move((request.params as Static<typeof Params>).id);
        const { customerId, id: target } = invoice;
        await recordAction(request, deps, { customerId, action, target, outcome: 'success' });
        return toApi(invoice);
      },
    );
  }
}

function recordAction(
  request: FastifyRequest,
  { audit }: InvoiceRoutesDependencies,
  entry: { customerId: string; action: string; target: string; outcome: 'success' | 'refused' },
): Promise<void> {
  return audit.record([
    { ...entry, actor: { type: 'admin', id: 'admin' }, ip: request.ip, requestId: request.id },
  ]);
}
