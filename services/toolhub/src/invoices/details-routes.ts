import Type, { type Static } from 'typebox';
import type { Access } from '../customers/access.ts';
import type { ToolhubRoutes } from '../route-rules.ts';
import { addressLines, type BillingDetails, type Seller } from './parties.ts';
import type { PlanPreview } from './preview.ts';
import type { InvoiceService } from './service.ts';

export interface DetailsRoutesDependencies {
  invoices: Pick<InvoiceService, 'details' | 'changeDetails' | 'preview' | 'seller'>;
  access: Pick<Access, 'sessionOf' | 'standingOf'>;
}

const COMPANY_CHARACTERS_MAX = 200;
const ADDRESS_CHARACTERS_MAX = 500;
const ADDRESS_LINES_MAX = 8;
const TAX_ID_CHARACTERS_MAX = 50;

/** One line without characters that steer a printer or a terminal. */
const line = (maxLength: number, description: string) =>
  Type.Union([Type.String({ maxLength, pattern: '^[^\\p{Cc}]*$', description }), Type.Null()]);

const DetailsBody = Type.Object(
  {
    company: line(COMPANY_CHARACTERS_MAX, 'The name on invoices; the name of the account where it is null.'),
    address: Type.Union([
      Type.String({
        maxLength: ADDRESS_CHARACTERS_MAX,
        // Lines with a break between them.
        pattern: `^[^\\p{Cc}]*(\\r?\\n[^\\p{Cc}]*){0,${ADDRESS_LINES_MAX - 1}}$`,
        'x-mismatch': `Must have at most ${ADDRESS_LINES_MAX} lines.`,
        description: 'The postal address, at most 8 lines.',
      }),
      Type.Null(),
    ]),
    tax_id: line(TAX_ID_CHARACTERS_MAX, 'Such as the number for value added tax.'),
  },
  {
    additionalProperties: false,
    title: 'ChangeBillingDetails',
    examples: [
      { company: 'Analytical Engines Ltd', address: '12 St James Square\nLondon', tax_id: 'GB123456789' },
    ],
  },
);

const textOrNull = Type.Union([Type.String(), Type.Null()]);
const SellerSchema = Type.Object(
  {
    name: Type.String(),
    lines: Type.Array(Type.String()),
    tax_id: textOrNull,
  },
  { description: 'Who sends the invoices.' },
);
const PaymentSchema = Type.Object(
  {
    details: Type.Array(Type.String(), { description: 'Bank details, line by line.' }),
    url: Type.Union([Type.String(), Type.Null()], { description: 'A page to pay at.' }),
  },
  { description: 'How invoices are paid; empty where the operator set nothing.' },
);
const DetailsSchema = Type.Object(
  {
    company: textOrNull,
    address: textOrNull,
    tax_id: textOrNull,
    seller: SellerSchema,
    payment: PaymentSchema,
  },
  {
    title: 'BillingDetails',
    examples: [
      {
        company: 'Analytical Engines Ltd',
        address: '12 St James Square\nLondon',
        tax_id: 'GB123456789',
        seller: { name: 'Toolhub', lines: ['1 Main Street', 'Springfield'], tax_id: 'US12-3456789' },
        payment: { details: ['IBAN DE02 1203 0000 0000 2020 51'], url: null },
      },
    ],
  },
);

const monthFields = {
  total_cents: Type.Integer(),
  lines: Type.Array(
    Type.Object({ description: Type.String(), quantity: Type.Integer(), amount_cents: Type.Integer() }),
  ),
};
const month = (totalCents: number) => ({
  total_cents: totalCents,
  lines: [{ description: 'Starter plan, 16 of 30 days', quantity: 1, amount_cents: totalCents }],
});
const PreviewSchema = Type.Object(
  {
    plan: Type.String(),
    period: Type.String({ description: 'The current month in UTC.' }),
    days_left: Type.Integer({
      description: 'Days that the plan would be counted for; today belongs to the dearer of the two.',
    }),
    price_cents: Type.Integer({ description: 'Of a whole month, from the next one on.' }),
    now: Type.Object(monthFields, { description: 'What the month comes to as it is.' }),
    changed: Type.Object(monthFields, { description: 'What it comes to with the plan from now on.' }),
    difference_cents: Type.Integer(),
  },
  {
    title: 'PlanPreview',
    description: 'With the calls made so far; later ones are not guessed.',
    examples: [
      {
        ...{ plan: 'starter', period: '2026-11', days_left: 16, price_cents: 2900 },
        ...{ now: month(0), changed: month(1546), difference_cents: 1546 },
      },
    ],
  },
);

export function registerDetailsRoutes(routes: ToolhubRoutes, deps: DetailsRoutesDependencies): void {
  const { invoices, access } = deps;
  routes.get(
    '/api/billing-details',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      schema: {
        operationId: 'billing_details.get',
        tags: ['Billing'],
        summary: 'What stands on your invoices',
        description: 'Your address and tax id, those of the seller, and how invoices are paid.',
        response: { 200: DetailsSchema },
      },
    },
    async (request) =>
      detailsToApi(await invoices.details(access.sessionOf(request).customerId), invoices.seller),
  );
  routes.put(
    '/api/billing-details',
    {
      access: 'account:write',
      rate: 'api',
      audit: { action: 'billing_details.changed' },
      idempotency: 'natural',
      schema: {
        operationId: 'billing_details.change',
        tags: ['Billing'],
        summary: 'Change what stands on your invoices',
        description: 'Holds for invoices from now on; those that were made stay as they are.',
        body: DetailsBody,
        response: { 200: DetailsSchema },
      },
    },
    async (request) => {
      const session = access.sessionOf(request);
      const details = detailsFromApi(request.body);
      await invoices.changeDetails(session.customerId, details, access.standingOf(session));
      return detailsToApi(details, invoices.seller);
    },
  );
  routes.get(
    '/api/plan/preview',
    {
      access: 'account:read',
      rate: 'api',
      audit: 'none',
      idempotency: 'safe',
      codes: ['unknown_plan'],
      schema: {
        operationId: 'plan.preview',
        tags: ['Billing'],
        summary: 'What another plan would cost',
        description:
          'This month as it is and with the plan from now on, counted by days, as the invoice would.',
        querystring: Type.Object(
          { plan: Type.String({ minLength: 1, maxLength: 100, examples: ['starter'] }) },
          { additionalProperties: false },
        ),
        response: { 200: PreviewSchema },
      },
    },
    async (request) => {
      const { customerId } = access.sessionOf(request);
      return previewToApi(await invoices.preview({ customerId, plan: request.query.plan }));
    },
  );
}

function detailsFromApi(body: Static<typeof DetailsBody>): BillingDetails {
  const clean = (text: string | null) => text?.trim() || null;
  return {
    company: clean(body.company),
    address: addressLines(body.address).join('\n') || null,
    taxId: clean(body.tax_id),
  };
}

function detailsToApi(
  { company, address, taxId }: BillingDetails,
  { issuer, payment }: Seller,
): Static<typeof DetailsSchema> {
  return {
    ...{ company, address, tax_id: taxId },
    seller: { name: issuer.name, lines: [...issuer.lines], tax_id: issuer.taxId },
    payment: { details: [...payment.details], url: payment.url },
  };
}

function previewToApi({
  period,
  daysLeft,
  terms,
  asItIs,
  changed,
}: PlanPreview): Static<typeof PreviewSchema> {
  const toMonth = ({ lines, totalCents }: PlanPreview['asItIs']) => ({
    total_cents: totalCents,
    lines: lines.map(({ description, quantity, amountCents }) => ({
      ...{ description, quantity, amount_cents: amountCents },
    })),
  });
  return {
    ...{ plan: terms.plan, period, days_left: daysLeft, price_cents: terms.priceCents },
    now: toMonth(asItIs),
    changed: toMonth(changed),
    difference_cents: changed.totalCents - asItIs.totalCents,
  };
}
