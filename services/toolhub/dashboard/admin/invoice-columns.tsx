import { type Column, ConfirmButton, formatAmount, toast } from '@libs/ui';
import { Group } from '@mantine/core';
import { type Invoice, monthName } from '../billing/invoice.ts';
import { InvoiceBadge } from '../billing/one-invoice.tsx';
import { texts } from '../texts.ts';
import { operator, refresh } from './operator.ts';

const words = texts.admin;
export const ALL_INVOICES_PATH = '/api/admin/invoices';

async function move(invoice: Invoice, verb: 'mark-paid' | 'void'): Promise<void> {
  await operator.post(`${ALL_INVOICES_PATH}/${invoice.id}/${verb}`);
  await refresh(ALL_INVOICES_PATH, `/api/admin/customers/${invoice.customer_id}`);
  toast.done(words.saved);
}

/** An invoice as the operator sees it, to be marked as paid or voided. */
export const invoiceColumns: readonly Column<Invoice>[] = [
  { header: texts.billing.number, render: ({ number }) => <strong>{number}</strong> },
  { header: texts.billing.period, render: ({ period }) => monthName(period) },
  { header: texts.billing.status, render: ({ status }) => <InvoiceBadge status={status} /> },
  {
    header: texts.billing.total,
    align: 'right',
    render: ({ total_cents: total, currency }) => (
      <span className="ui-number">{formatAmount(total, currency)}</span>
    ),
  },
  {
    header: texts.common.actions,
    align: 'right',
    has: ({ status }) => status !== 'paid' && status !== 'void',
    render: (invoice) => (
      <Group gap="xs" wrap="nowrap" justify="flex-end">
        <ConfirmButton
          label={words.markPaid}
          question={words.markPaidQuestion(invoice.number)}
          explanation={words.markPaidHint}
          onConfirm={() => move(invoice, 'mark-paid')}
        />
        <ConfirmButton
          danger
          label={words.void}
          question={words.voidQuestion(invoice.number)}
          explanation={words.voidHint}
          onConfirm={() => move(invoice, 'void')}
        />
      </Group>
    ),
  },
];
