import { Day, DownloadLink, Facts, formatAmount, Icon, Page, Panel, QueryView, When } from '@libs/ui';
import { Badge, Button, Group, Stack, Table } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { client, FOLLOW_MS, useObject } from '../api/client.ts';
import { texts } from '../texts.ts';
import { INVOICE_COLORS, INVOICES_PATH, type Invoice, monthName } from './invoice.ts';

const words = texts.billing;

/** One invoice with its lines, under an address that can be kept. */
export function OneInvoice({ id }: { id: string }) {
  const query = useObject<Invoice>(`${INVOICES_PATH}/${encodeURIComponent(id)}`, { refetchMs: FOLLOW_MS });
  return (
    <Page
      title={words.invoice}
      actions={
        <Button component={Link} to="/billing" variant="default">
          {words.allInvoices}
        </Button>
      }
    >
      <QueryView query={query}>{(invoice) => <InvoicePanel invoice={invoice} />}</QueryView>
    </Page>
  );
}

function InvoicePanel({ invoice }: { invoice: Invoice }) {
  const { number, period, status, bill_to: billTo, payment } = invoice;
  return (
    <Panel title={number} lead={monthName(period)} actions={<InvoiceActions invoice={invoice} />}>
      <Stack>
        <Facts
          facts={[
            [words.status, <InvoiceBadge key="status" status={status} />],
            [words.issued, <Day key="issued" day={invoice.issued_at} />],
            [words.sent, invoice.sent_at && <When key="sent" at={invoice.sent_at} />],
            [words.paid, invoice.paid_at && <When key="paid" at={invoice.paid_at} />],
            [words.billTo, billTo.company ?? billTo.name],
            [words.bank, payment && payment.details.length > 0 ? payment.details.join(', ') : null],
            [words.reference, payment?.reference],
          ]}
        />
        <Lines invoice={invoice} />
      </Stack>
    </Panel>
  );
}

function Lines({ invoice: { lines, total_cents: total, currency } }: { invoice: Invoice }) {
  return (
    <Table verticalSpacing={6}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th scope="col">{words.line}</Table.Th>
          <Table.Th scope="col" ta="right">
            {words.quantity}
          </Table.Th>
          <Table.Th scope="col" ta="right">
            {words.amount}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {lines.map(({ description, quantity, amount_cents: cents }) => (
          <Table.Tr key={`${description} ${quantity} ${cents}`}>
            <Table.Td>{description}</Table.Td>
            <Table.Td ta="right" className="ui-number">
              {quantity.toLocaleString()}
            </Table.Td>
            <Table.Td ta="right" className="ui-number">
              {formatAmount(cents, currency)}
            </Table.Td>
          </Table.Tr>
        ))}
        <Table.Tr fw={650}>
          <Table.Td colSpan={2}>{words.total}</Table.Td>
          <Table.Td ta="right" className="ui-number">
            {formatAmount(total, currency)}
          </Table.Td>
        </Table.Tr>
      </Table.Tbody>
    </Table>
  );
}

export function InvoiceBadge({ status }: { status: string }) {
  return <Badge color={INVOICE_COLORS[status] ?? 'gray'}>{words.statuses[status] ?? status}</Badge>;
}

export function InvoiceActions({ invoice: { id, number, payment } }: { invoice: Invoice }) {
  return (
    <Group gap="xs" wrap="nowrap" justify="flex-end">
      {payment?.url ? (
        <Button
          component="a"
          href={payment.url}
          target="_blank"
          rel="noreferrer"
          size="xs"
          aria-label={`${words.payNow} ${number}`}
        >
          {words.payNow}
        </Button>
      ) : null}
      <DownloadLink
        client={client}
        path={`${INVOICES_PATH}/${id}/pdf`}
        size="xs"
        leftSection={<Icon name="download" size={14} />}
        aria-label={`${words.pdf} ${number}`}
      >
        {words.pdf}
      </DownloadLink>
    </Group>
  );
}
