import { Amount, type Column, EmptyNote, PagedTable, Panel, usePlace, When } from '@libs/ui';
import { Badge } from '@mantine/core';
import { useList } from '../../api/client.ts';
import type { LedgerEntry } from '../../api/types.ts';
import { AccountName } from '../../ledger/account-name.tsx';
import { texts } from '../../texts.ts';

const words = texts.ledger;

const stateColors: Record<LedgerEntry['state'], string> = {
  pending: 'gray',
  posted: 'brand',
  released: 'orange',
};

export const entryColumns: readonly Column<LedgerEntry>[] = [
  { header: words.account, written: true, render: ({ account_id: id }) => <AccountName id={id} /> },
  {
    header: words.directions.debit,
    align: 'right',
    render: ({ direction, amount }) => (direction === 'debit' ? <Amount minor={amount} /> : ''),
  },
  {
    header: words.directions.credit,
    align: 'right',
    render: ({ direction, amount }) => (direction === 'credit' ? <Amount minor={amount} /> : ''),
  },
  {
    header: words.state,
    render: ({ state }) => (
      <Badge color={stateColors[state]} title={words.stateHints[state]}>
        {words.states[state]}
      </Badge>
    ),
  },
  { header: words.at, align: 'right', render: ({ created_at: at }) => <When at={at} /> },
];

export function EntriesPanel({ paymentId }: { paymentId: string }) {
  const place = usePlace();
  const search = { payment_id: paymentId, cursor: place.cursor };
  const query = useList<LedgerEntry>('/v1/ledger/entries', search);
  return (
    <Panel title={texts.payment.ledger} lead={words.statesLead} flush>
      <PagedTable
        place={place}
        label={texts.payment.ledger}
        columns={entryColumns}
        query={query}
        keyOf={({ id }) => id}
        empty={<EmptyNote>{texts.payment.noEntries}</EmptyNote>}
      />
    </Panel>
  );
}
