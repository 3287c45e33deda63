import type { Mail } from '@libs/mail';
import { formatNumber, type Invoice, isOwed } from './invoice.ts';
import { formatCents } from './money.ts';
import { type PaymentWays, paymentUrl } from './parties.ts';
import { periodTitle } from './period.ts';

/** The mail that carries an invoice. Its id is the invoice's, so that a repeat is recognised as one. */
export function toMail(
  invoice: Invoice,
  pdf: Buffer,
  from: { publicUrl: string; payment: PaymentWays },
): Mail {
  const number = formatNumber(invoice.number);
  const month = periodTitle(invoice.period);
  const owed =
    invoice.totalCents === 0
      ? 'There is nothing to pay.'
      : `The total is ${formatCents(invoice.totalCents)}${invoice.paidAt === null ? ', due on receipt' : ', paid already'}.`;
  return {
    id: invoice.id,
    to: invoice.billTo.email,
    subject: `Invoice ${number} for ${month}`,
    text: [
      'Hello,',
      '',
      `attached is invoice ${number} for your use of Toolhub in ${month}. ${owed}`,
      '',
      ...howToPay(invoice, from.payment),
      `All your invoices are at ${from.publicUrl}/billing.`,
      '',
    ].join('\n'),
    attachments: [{ filename: `${number}.pdf`, contentType: 'application/pdf', content: pdf }],
  };
}

/** Nothing where nothing is owed, or the operator set no way. */
function howToPay(invoice: Invoice, payment: PaymentWays): string[] {
  if (!isOwed(invoice)) return [];
  const number = formatNumber(invoice.number);
  const url = paymentUrl(payment, { number, amountCents: invoice.totalCents });
  const lines = [...payment.details, ...(url === null ? [] : [url])];
  return lines.length === 0 ? [] : [`How to pay (reference ${number}):`, ...lines, ''];
}
