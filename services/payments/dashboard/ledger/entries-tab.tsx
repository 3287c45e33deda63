import { type Column, FilterBar, ListPanel, TextFilter, useSearchState } from '@libs/ui';
import { Anchor, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useList } from '../api/client.ts';
import type { LedgerEntry } from '../api/types.ts';
import { entryColumns } from '../payments/detail/entries.tsx';
import { EmptyWithoutPayments } from '../payments/empty-without-payments.tsx';
import { texts } from '../texts.ts';

const words = texts.ledger;

const columns: readonly Column<LedgerEntry>[] = [
  ...entryColumns,
  {
    header: words.payment,
    render: ({ payment_id: id }) =>
      id === null ? (
        ''
      ) : (
        <Anchor component={Link} to="/payments/$id" params={{ id } as never} className="ui-id">
          {id}
        </Anchor>
      ),
  },
];

export function EntriesTab() {
  const { cursor, payment_id, account_id } = useSearchState().values;
  const query = useList<LedgerEntry>('/v1/ledger/entries', { cursor, payment_id, account_id });
  return (
    <Stack>
      <FilterBar>
        <TextFilter name="account_id" label={words.accountId} placeholder={words.accountIdHint} />
        <TextFilter name="payment_id" label={words.paymentId} placeholder="pay_…" />
      </FilterBar>
      <Text size="sm" c="dimmed">
        {words.statesLead}
      </Text>
      <ListPanel
        label={words.entries}
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<EmptyWithoutPayments icon="book" title={words.noEntries} next={words.noEntriesNext} />}
      />
    </Stack>
  );
}
