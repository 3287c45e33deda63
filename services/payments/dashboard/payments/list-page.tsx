import {
  ActionButton,
  ChoiceFilter,
  DateRangeFilter,
  Empty,
  FilterBar,
  Icon,
  ListPanel,
  Page,
  TextFilter,
  toast,
  useSearchState,
} from '@libs/ui';
import { Badge, Button, Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useContext } from 'react';
import { useList } from '../api/client.ts';
import { LineState } from '../api/live.ts';
import { mode } from '../api/mode.ts';
import type { Payment } from '../api/types.ts';
import { useRights } from '../session/session.ts';
import { texts } from '../texts.ts';
import { paymentColumns } from './columns.tsx';
import { exportPayments } from './export.ts';
import { paymentQuery } from './query.ts';

const words = texts.payments;
const choicesOf = (names: Record<string, string>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }));

export function PaymentsPage() {
  const search = useSearchState();
  const rights = useRights();
  const query = useList<Payment>('/v1/payments', paymentQuery(search.values));
  const line = useContext(LineState);
  const create = (
    <Button component={Link} to="/payments/new" leftSection={<Icon name="plus" />}>
      {words.create}
    </Button>
  );
  return (
    <Page
      title={words.title}
      lead={
        <Badge variant="dot" color={line === 'open' ? 'brand' : 'gray'} size="sm">
          {line === 'open' ? words.live : words.connecting}
        </Badge>
      }
      actions={
        <>
          <ActionButton
            size="sm"
            lostWords={words.notExported}
            leftSection={<Icon name="download" />}
            onAct={async () => {
              await exportPayments(search.values);
              toast.done(words.exported);
            }}
          >
            {words.export}
          </ActionButton>
          {rights.write ? create : null}
        </>
      }
    >
      <Stack gap="md">
        <FilterBar>
          <TextFilter name="id_prefix" label={words.search} placeholder={words.searchHint} width={130} />
          <ChoiceFilter name="status" label={words.status} choices={choicesOf(texts.statuses)} width={130} />
          <ChoiceFilter name="rail" label={words.rail} choices={choicesOf(texts.rails)} width={105} />
          <TextFilter name="payment_method" label={words.method} placeholder="pm_…" width={140} />
          <TextFilter name="metadata" label={words.metadata} placeholder={words.metadataHint} width={130} />
          <DateRangeFilter after="created_after" before="created_before" />
        </FilterBar>
        <ListPanel
          label={words.title}
          query={query}
          columns={paymentColumns}
          keyOf={({ id }) => id}
          empty={
            <Empty
              icon="payments"
              title={words.none}
              next={words.noneNext[mode]}
              {...(rights.write ? { action: create } : {})}
            />
          }
        />
      </Stack>
    </Page>
  );
}
