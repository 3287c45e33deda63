import {
  addressOf,
  ChoiceFilter,
  type Column,
  Empty,
  FilterBar,
  Icon,
  ListPanel,
  Page,
  TextFilter,
  useSearchState,
  When,
} from '@libs/ui';
import { Button } from '@mantine/core';
import { useList } from '../api/client.ts';
import { texts } from '../texts.ts';
import { type AuditEntry, OutcomeBadge } from './entry.tsx';

const words = texts.audit;

const columns: readonly Column<AuditEntry>[] = [
  { header: words.action, render: ({ action }) => <strong>{action}</strong> },
  {
    header: words.target,
    render: ({ target }) => (target === null ? '' : <span className="ui-id">{target}</span>),
  },
  { header: words.outcome, render: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  {
    header: words.actor,
    render: ({ actor }) => (
      <span title={actor.id} className="ui-number">
        {words.actors[actor.type] ?? actor.type}
      </span>
    ),
  },
  { header: words.from, render: ({ ip }) => ip ?? '' },
  { header: words.at, align: 'right', render: ({ at }) => <When at={at} /> },
];

export function AuditPage() {
  const { values } = useSearchState();
  const query = useList<AuditEntry>('/api/audit', values);
  const { cursor: _place, ...filters } = values;
  return (
    <Page
      title={words.title}
      lead={words.lead}
      actions={
        <Button
          component="a"
          href={addressOf('/api/audit/export', filters)}
          variant="default"
          leftSection={<Icon name="download" size={16} />}
        >
          {words.csv}
        </Button>
      }
    >
      <FilterBar>
        <TextFilter name="action" label={words.action} placeholder="tool.call" width={160} />
        <TextFilter name="target" label={words.target} />
        <ChoiceFilter
          name="outcome"
          label={words.outcome}
          choices={Object.entries(words.outcomes).map(([value, label]) => ({ value, label }))}
        />
        <TextFilter name="from" label={words.fromDay} placeholder="2026-11-01" width={130} />
        <TextFilter name="to" label={words.toDay} placeholder="2026-12-01" width={130} />
      </FilterBar>
      <ListPanel
        label={words.title}
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty icon="book" title={words.none} next={words.noneNext} />}
      />
    </Page>
  );
}
