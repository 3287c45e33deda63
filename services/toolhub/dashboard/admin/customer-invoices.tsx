import { type Column, ConfirmButton, formatAmount, QueryTable, toast } from '@libs/ui';
import { Badge, Group, Text } from '@mantine/core';
import { INVOICE_COLORS, type Invoice, monthName } from '../billing/invoice.ts';
import { texts } from '../texts.ts';
import { operator, refresh, useList } from './operator.ts';

const words = texts.admin;
const INVOICES_SHOWN = 24;

/** The invoices of one customer, to be marked as paid or voided. */
export function CustomerInvoices({ path }: { path: string }) {
  const query = useList<Invoice>(`${path}/invoices`, { limit: INVOICES_SHOWN });
  const move = async (id: string, verb: 'mark-paid' | 'void') => {
    await operator.post(`/api/admin/invoices/${id}/${verb}`);
    await refresh(path);
    toast.done(words.saved);
  };
  const columns: readonly Column<Invoice>[] = [
    { header: texts.billing.number, render: ({ number }) => <strong>{number}</strong> },
    { header: texts.billing.period, render: ({ period }) => monthName(period) },
    {
      header: texts.billing.status,
      render: ({ status }) => (
        <Badge color={INVOICE_COLORS[status] ?? 'gray'}>{texts.billing.statuses[status] ?? status}</Badge>
      ),
    },
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
      render: ({ id, number, status }) =>
        status === 'paid' || status === 'void' ? (
          ''
        ) : (
          <Group gap="xs" wrap="nowrap" justify="flex-end">
            <ConfirmButton
              label={words.markPaid}
              question={words.markPaidQuestion(number)}
              explanation={words.markPaidHint}
              onConfirm={() => move(id, 'mark-paid')}
            />
            <ConfirmButton
              danger
              label={words.void}
              question={words.voidQuestion(number)}
              explanation={words.voidHint}
              onConfirm={() => move(id, 'void')}
            />
          </Group>
        ),
    },
  ];
  return (
    <QueryTable
      label={texts.billing.invoices}
      query={query}
      columns={columns}
      keyOf={({ id }) => id}
      empty={
        <Text size="sm" c="dimmed">
          {words.noInvoices}
        </Text>
      }
    />
  );
}
