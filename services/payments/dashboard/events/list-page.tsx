import {
  ChoiceFilter,
  Coded,
  type Column,
  FilterBar,
  ListPanel,
  Page,
  TextFilter,
  useSearchState,
  When,
  wordsOfCode,
} from '@libs/ui';
import { Link } from '@tanstack/react-router';
import { useList } from '../api/client.ts';
import { EmptyWithoutPayments } from '../payments/empty-without-payments.tsx';
import { texts } from '../texts.ts';
import { eventChoices } from '../webhooks/event-types.ts';
import type { PaymentsEvent } from './event.ts';

const words = texts.events;

const columns: readonly Column<PaymentsEvent>[] = [
  {
    header: words.type,
    render: ({ id, type }) => (
      <Link
        to="/events/$id"
        params={{ id } as never}
        data-row
        aria-label={`${wordsOfCode(type)} ${type} ${id}`}
      >
        <Coded code={type} />
      </Link>
    ),
  },
  { header: words.object, render: ({ data }) => <span className="ui-id">{data.id ?? ''}</span> },
  { header: words.at, align: 'right', render: ({ timestamp }) => <When at={timestamp} /> },
];

export function EventsPage() {
  const search = useSearchState();
  const query = useList<PaymentsEvent>('/v1/events', search.values);
  return (
    <Page title={words.title}>
      <FilterBar>
        <ChoiceFilter
          name="type"
          label={words.type}
          choices={eventChoices.map((value) => ({ value, label: value }))}
        />
        <TextFilter name="object_id" label={words.objectId} placeholder="pay_…" />
      </FilterBar>
      <ListPanel
        label={words.title}
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<EmptyWithoutPayments icon="bolt" title={words.none} next={words.noneNext} />}
      />
    </Page>
  );
}
