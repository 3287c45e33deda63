import { PagedTable, usePlace } from '@libs/ui';
import { Text } from '@mantine/core';
import type { Invoice } from '../billing/invoice.ts';
import { texts } from '../texts.ts';
import { invoiceColumns } from './invoice-columns.tsx';
import { useList } from './operator.ts';

/** The invoices of one customer. */
export function CustomerInvoices({ path }: { path: string }) {
  const place = usePlace();
  const query = useList<Invoice>(`${path}/invoices`, { cursor: place.cursor });
  return (
    <PagedTable
      label={texts.billing.invoices}
      query={query}
      columns={invoiceColumns}
      keyOf={({ id }) => id}
      place={place}
      empty={
        <Text size="sm" c="dimmed">
          {texts.admin.noInvoices}
        </Text>
      }
    />
  );
}
