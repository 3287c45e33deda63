import { ChoiceFilter, type Column, Empty, FilterBar, ListView, Panel, useSearchState } from '@libs/ui';
import { Box, Text } from '@mantine/core';
import type { Invoice } from '../billing/invoice.ts';
import { texts } from '../texts.ts';
import { ALL_INVOICES_PATH, invoiceColumns } from './invoice-columns.tsx';
import { useList } from './operator.ts';

const words = texts.admin;
const statuses = Object.entries(texts.billing.statuses).map(([value, label]) => ({ value, label }));

const [number, ...others] = invoiceColumns;
const columns = [
  number,
  {
    header: words.customer,
    written: true,
    render: ({ bill_to: { name, email } }) => (
      <div>
        {name}
        <Text size="sm" c="dimmed">
          {email}
        </Text>
      </div>
    ),
  },
  ...others,
] as readonly Column<Invoice>[];

/** Of all customers: an invoice outlives the account that it was made for. */
export function AllInvoices() {
  const { status, cursor } = useSearchState().values;
  const query = useList<Invoice>(ALL_INVOICES_PATH, { status, cursor });
  return (
    <Panel title={words.tabs.invoices} lead={words.allInvoicesLead} flush>
      <Box px="lg" pb="md">
        <FilterBar>
          <ChoiceFilter name="status" label={texts.billing.status} choices={statuses} />
        </FilterBar>
      </Box>
      <ListView
        label={words.tabs.invoices}
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty icon="bank" title={words.noInvoices} />}
      />
    </Panel>
  );
}
