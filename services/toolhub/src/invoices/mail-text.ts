import type { Mail } from '@libs/mail';
import { formatNumber, type Invoice } from './invoice.ts';
import { formatCents } from './money.ts';
import { periodTitle } from './period.ts';

/** The mail that carries an invoice. Its id is the invoice's, so that a repeat is recognised as one. */
export function toMail(invoice: Invoice, pdf: Buffer, publicUrl: string): Mail {
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
      `All your invoices are at ${publicUrl}.`,
      '',
    ].join('\n'),
    attachments: [{ filename: `${number}.pdf`, contentType: 'application/pdf', content: pdf }],
  };
}
