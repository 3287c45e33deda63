import {
  Amount,
  ChoiceFilter,
  Coded,
  type Column,
  CopyText,
  capitalised,
  Day,
  Empty,
  FilterBar,
  ListPanel,
  useSearchState,
  When,
} from '@libs/ui';
import { Badge, Stack } from '@mantine/core';
import { useList } from '../api/client.ts';
import { whileFirst } from '../api/polling.ts';
import type { Mode, Rail } from '../api/types.ts';
import { texts } from '../texts.ts';

const words = texts.operator;

interface Difference {
  id: string;
  status: 'open' | 'resolved';
  rail: Rail;
  mode: Mode;
  day: string;
  kind: string;
  reference: string | null;
  payment_id: string | null;
  ours: string | null;
  theirs: string | null;
  first_seen_at: string;
  resolved_at: string | null;
}

const columns: readonly Column<Difference>[] = [
  {
    header: words.kind,
    render: ({ kind }) => (
      <div className="ui-few-lines">
        <Coded code={kind} />
      </div>
    ),
  },
  {
    header: words.status,
    render: ({ status }) => <Badge color={status === 'open' ? 'red' : 'gray'}>{words.states[status]}</Badge>,
  },
  {
    header: words.reference,
    render: referenceOf,
  },
  {
    // Two things in one column, here and below: more columns leave the reference no room.
    header: words.dayAndRail,
    render: ({ day, rail, mode }) => (
      <div>
        <Day day={day} />
        <div className="ui-together ui-beside">{`${texts.rails[rail]} · ${texts.mode[mode]}`}</div>
      </div>
    ),
  },
  { header: words.ours, align: 'right', render: ({ ours }) => sideOf(ours) },
  { header: words.theirs, align: 'right', render: ({ theirs }) => sideOf(theirs) },
  {
    header: words.firstSeen,
    align: 'right',
    render: ({ first_seen_at: seen, resolved_at: gone }) => (
      <div>
        <When at={seen} dayOnly />
        {gone === null ? null : (
          <div className="ui-together ui-beside">
            {words.gone} <When at={gone} dayOnly />
          </div>
        )}
      </div>
    ),
  },
];

/** What one looks it up by: the payment, or what the network calls it where no payment is known. */
function referenceOf({ payment_id: id, reference }: Difference) {
  const text = id ?? reference;
  return text === null ? '–' : <CopyText text={text} label={words.reference} />;
}

/** Sums of money, or states. */
function sideOf(text: string | null) {
  if (text === null) return '–';
  return /^\d+$/.test(text) ? <Amount minor={Number(text)} /> : capitalised(text);
}

export function ReconciliationTab() {
  const { cursor, status } = useSearchState().values;
  const query = useList<Difference>('/v1/admin/reconciliation', { cursor, status }, whileFirst({ cursor }));
  return (
    <Stack>
      <FilterBar>
        <ChoiceFilter
          name="status"
          label={words.status}
          choices={(['open', 'resolved'] as const).map((value) => ({ value, label: words.states[value] }))}
        />
      </FilterBar>
      <ListPanel
        label={words.reconciliation}
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty icon="check" title={words.noDifferences} next={words.noDifferencesNext} />}
      />
    </Stack>
  );
}
