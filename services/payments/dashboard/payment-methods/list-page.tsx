import {
  Amount,
  ChoiceFilter,
  type Column,
  Empty,
  FilterBar,
  Icon,
  ListPanel,
  Page,
  useSearchState,
  When,
} from '@libs/ui';
import { Badge, Button, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { useList } from '../api/client.ts';
import type { PaymentMethod } from '../api/types.ts';
import { useRights } from '../session/session.ts';
import { texts } from '../texts.ts';
import { AddMethodForm } from './add-form.tsx';
import { nameOf, railsOf } from './method.tsx';

const words = texts.methods;

const columns: readonly Column<PaymentMethod>[] = [
  {
    header: words.id,
    written: true,
    render: (method) => (
      <div>
        <Link to="/payment-methods/$id" params={{ id: method.id } as never} data-row>
          {nameOf(method)}
        </Link>
        <div className="ui-id ui-beside">{method.id}</div>
      </div>
    ),
  },
  {
    header: words.type,
    render: ({ type }) => <Badge color={type === 'balance' ? 'grape' : 'gray'}>{words.types[type]}</Badge>,
  },
  {
    header: words.accountType,
    render: ({ bank_account: bank }) => (bank === null ? '' : words.accountTypes[bank.account_type]),
  },
  { header: words.rails, render: railsOf },
  {
    header: words.available,
    align: 'right',
    render: ({ balance }) => (balance === null ? '' : <Amount minor={balance.available} />),
  },
  { header: words.created, align: 'right', render: ({ created_at: at }) => <When at={at} dayOnly /> },
];

export function PaymentMethodsPage() {
  const search = useSearchState();
  const rights = useRights();
  const [opened, { open, close }] = useDisclosure(false);
  const query = useList<PaymentMethod>('/v1/payment_methods', search.values);
  const add = rights.write ? (
    <Button onClick={open} leftSection={<Icon name="plus" />}>
      {words.add}
    </Button>
  ) : null;
  return (
    <Page title={words.title} actions={add}>
      <FilterBar>
        <ChoiceFilter
          name="type"
          label={words.type}
          choices={Object.entries(words.types).map(([value, label]) => ({ value, label }))}
        />
      </FilterBar>
      <ListPanel
        label={words.title}
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty icon="bank" title={words.none} next={words.noneNext} action={add} />}
      />
      <Modal opened={opened} onClose={close} title={words.add}>
        <AddMethodForm onDone={close} />
      </Modal>
    </Page>
  );
}
