import { ChoiceFilter, type Column, Empty, FilterBar, ListPanel, useSearchState, When } from '@libs/ui';
import { Badge, Stack } from '@mantine/core';
import { useList } from '../api/client.ts';
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
  ours: string | null;
  theirs: string | null;
  first_seen_at: string;
  resolved_at: string | null;
}

const columns: readonly Column<Difference>[] = [
  { header: words.kind, render: ({ kind }) => kind.replaceAll('_', ' ') },
  {
    header: words.status,
    render: ({ status }) => <Badge color={status === 'open' ? 'red' : 'gray'}>{status}</Badge>,
  },
  { header: words.day, render: ({ day }) => <span className="ui-number">{day}</span> },
  { header: words.rail, render: ({ rail, mode }) => `${texts.rails[rail]} · ${texts.mode[mode]}` },
  { header: words.ours, render: ({ ours }) => ours ?? '–' },
  { header: words.theirs, render: ({ theirs }) => theirs ?? '–' },
  { header: words.firstSeen, align: 'right', render: ({ first_seen_at: at }) => <When at={at} /> },
  { header: words.gone, align: 'right', render: ({ resolved_at: at }) => <When at={at} /> },
];

export function ReconciliationTab() {
  const { cursor, status } = useSearchState().values;
  const query = useList<Difference>('/v1/admin/reconciliation', { cursor, status });
  return (
    <Stack>
      <FilterBar>
        <ChoiceFilter
          name="status"
          label={words.status}
          choices={['open', 'resolved'].map((value) => ({ value, label: value }))}
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
