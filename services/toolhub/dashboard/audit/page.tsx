import {
  addressOf,
  ChoiceFilter,
  type Column,
  DayFilter,
  DownloadLink,
  Empty,
  FilterBar,
  ListPanel,
  Page,
  TextFilter,
  useSearchState,
  When,
} from '@libs/ui';
import { client, FOLLOW_MS, useList } from '../api/client.ts';
import { texts } from '../texts.ts';
import { type AuditEntry, OutcomeBadge } from './entry.tsx';
import { ActorName, type Names, TargetName, useNames } from './names.tsx';

const words = texts.audit;

const columnsWith = (names: Names): readonly Column<AuditEntry>[] => [
  {
    header: words.action,
    render: ({ action }) => <strong title={action}>{words.actions[action] ?? action}</strong>,
  },
  { header: words.target, written: true, render: (entry) => <TargetName entry={entry} names={names} /> },
  { header: words.outcome, render: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  {
    header: words.actor,
    written: true,
    render: ({ actor }) => <ActorName actor={actor} names={names} />,
  },
  { header: words.from, render: ({ ip }) => ip ?? '' },
  { header: words.at, align: 'right', render: ({ at }) => <When at={at} /> },
];

export function AuditPage() {
  const { values } = useSearchState();
  const query = useList<AuditEntry>('/api/audit', values, { refetchMs: () => FOLLOW_MS });
  const names = useNames(query.data?.data ?? []);
  const { cursor: _place, ...filters } = values;
  return (
    <Page
      title={words.title}
      lead={words.lead}
      actions={
        <DownloadLink client={client} path={addressOf('/api/audit/export', filters)}>
          {words.csv}
        </DownloadLink>
      }
    >
      <FilterBar>
        <ChoiceFilter
          name="action"
          label={words.action}
          choices={Object.entries(words.actions)
            .map(([value, label]) => ({ value, label }))
            .sort((a, b) => a.label.localeCompare(b.label))}
        />
        <TextFilter name="target" label={words.targetFilter} placeholder="slack_send_message" />
        <ChoiceFilter
          name="outcome"
          label={words.outcome}
          choices={Object.entries(words.outcomes).map(([value, label]) => ({ value, label }))}
        />
        <DayFilter name="from" label={words.fromDay} />
        <DayFilter name="to" label={words.toDay} />
      </FilterBar>
      <ListPanel
        label={words.title}
        query={query}
        columns={columnsWith(names)}
        keyOf={({ id }) => id}
        empty={<Empty icon="book" title={words.none} next={words.noneNext} />}
      />
    </Page>
  );
}
