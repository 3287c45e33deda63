import Type, { type Static } from 'typebox';
import { formatNumber, type Invoice, isOwed } from './invoice.ts';
import { paymentUrl, type Seller } from './parties.ts';
import { INVOICE_STATUSES } from './states.ts';

export const invoiceExample = {
  id: 'inv_01kaf3v6w8q2m5x9t7c4b1n0ze',
  number: 'INV-000042',
  customer_id: 'cus_01kaf3v6w8q2m5x9t7c4b1n0ze',
  period: '2026-10',
  status: 'sent',
  currency: 'USD',
  lines: [{ platform: null, description: 'Starter', quantity: 1, amount_cents: 2900 }],
  total_cents: 2900,
  bill_to: {
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    company: 'Analytical Engines Ltd',
    address: '12 St James Square\nLondon',
    tax_id: 'GB123456789',
  },
  seller: { name: 'Toolhub', lines: ['1 Main Street', 'Springfield'], tax_id: null },
  payment: { reference: 'INV-000042', details: ['IBAN DE02 1203 0000 0000 2020 51'], url: null },
  issued_at: '2026-11-01T00:10:00.000Z',
  sent_at: '2026-11-01T00:10:02.000Z',
  paid_at: null,
};

const moment = Type.String({ format: 'date-time' });
const momentOrNull = Type.Union([moment, Type.Null()]);
const textOrNull = Type.Union([Type.String(), Type.Null()]);

export const InvoiceSchema = Type.Object(
  {
    id: Type.String(),
    number: Type.String({ description: 'In one series without gaps.' }),
    customer_id: Type.String(),
    period: Type.String({ description: 'A calendar month in UTC.' }),
    status: Type.Enum([...INVOICE_STATUSES], { type: 'string' }),
    currency: Type.String(),
    lines: Type.Array(
      Type.Object({
        platform: Type.Union([Type.String(), Type.Null()], {
          description: 'Null for the price of the plan.',
        }),
        description: Type.String(),
        quantity: Type.Integer(),
        amount_cents: Type.Integer(),
      }),
    ),
    total_cents: Type.Integer({ description: 'The sum of the lines.' }),
    bill_to: Type.Object(
      {
        name: Type.String(),
        email: Type.String(),
        company: textOrNull,
        address: textOrNull,
        tax_id: textOrNull,
      },
      { description: 'Who it is for, as of the day it was issued.' },
    ),
    seller: Type.Object(
      { name: Type.String(), lines: Type.Array(Type.String()), tax_id: textOrNull },
      { description: 'Who it comes from, as of the day it was issued.' },
    ),
    payment: Type.Union(
      [
        Type.Object({
          reference: Type.String({ description: 'What to say with the money.' }),
          details: Type.Array(Type.String()),
          url: textOrNull,
        }),
        Type.Null(),
      ],
      { description: 'How it can be paid; null where nothing is owed.' },
    ),
    issued_at: moment,
    sent_at: momentOrNull,
    paid_at: momentOrNull,
  },
  { title: 'Invoice', examples: [invoiceExample] },
);

/** As everybody sees it. */
export function invoiceToApi(invoice: Invoice, seller: Seller): Static<typeof InvoiceSchema> {
  const { name, lines, taxId } = invoice.issuer ?? seller.issuer;
  const number = formatNumber(invoice.number);
  return {
    id: invoice.id,
    number,
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
    bill_to: {
      name: invoice.billTo.name,
      email: invoice.billTo.email,
      company: invoice.billTo.company,
      address: invoice.billTo.address,
      tax_id: invoice.billTo.taxId,
    },
    seller: { name, lines: [...lines], tax_id: taxId },
    payment: isOwed(invoice)
      ? {
          reference: number,
          details: [...seller.payment.details],
          url: paymentUrl(seller.payment, { number, amountCents: invoice.totalCents }),
        }
      : null,
    issued_at: invoice.issuedAt.toISOString(),
    sent_at: invoice.sentAt?.toISOString() ?? null,
    paid_at: invoice.paidAt?.toISOString() ?? null,
  };
}
