import { Amount, type Column, ListPanel, useSearchState } from '@libs/ui';
import { Badge } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useList } from '../api/client.ts';
import type { LedgerAccount } from '../api/types.ts';
import { EmptyWithoutPayments } from '../payments/empty-without-payments.tsx';
import { texts } from '../texts.ts';
import { AccountName } from './account-name.tsx';

const words = texts.ledger;

const columns: readonly Column<LedgerAccount>[] = [
  {
    header: words.account,
    written: true,
    render: ({ id }) => (
      <Link to="/ledger" search={{ tab: 'entries', account_id: id } as never} data-row>
        <AccountName id={id} />
      </Link>
    ),
  },
  {
    header: texts.methods.type,
    render: ({ type }) => <Badge color="gray">{words.accountTypes[type]}</Badge>,
  },
  { header: words.posted, align: 'right', render: ({ posted }) => <Amount minor={posted} /> },
  { header: words.pending, align: 'right', render: ({ pending }) => <Amount minor={pending} /> },
  { header: words.available, align: 'right', render: ({ available }) => <Amount minor={available} /> },
];

export function AccountsTab() {
  const { cursor } = useSearchState().values;
  const query = useList<LedgerAccount>('/v1/ledger/accounts', { cursor });
  return (
    <ListPanel
      label={words.accounts}
      query={query}
      columns={columns}
      keyOf={({ id }) => id}
      empty={<EmptyWithoutPayments icon="book" title={words.none} next={words.noneNext} />}
    />
  );
}
