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
import { accountOf, railsOf } from './method.tsx';

const words = texts.methods;

const columns: readonly Column<PaymentMethod>[] = [
  {
    header: words.id,
    render: ({ id }) => (
      <Link to="/payment-methods/$id" params={{ id } as never} data-row className="ui-id">
        {id}
      </Link>
    ),
  },
  {
    header: words.type,
    render: ({ type }) => <Badge color={type === 'balance' ? 'grape' : 'gray'}>{words.types[type]}</Badge>,
  },
  { header: words.account, render: accountOf },
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
  const add = (
    <Button onClick={open} leftSection={<Icon name="plus" />}>
      {words.add}
    </Button>
  );
  return (
    <Page title={words.title} actions={rights.write ? add : null}>
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
        empty={
          <Empty
            icon="bank"
            title={words.none}
            next={words.noneNext}
            {...(rights.write ? { action: add } : {})}
          />
        }
      />
      <Modal opened={opened} onClose={close} title={words.add}>
        <AddMethodForm onDone={close} />
      </Modal>
    </Page>
  );
}
