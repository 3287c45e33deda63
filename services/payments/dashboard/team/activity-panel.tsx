import { type Column, CopyText, EmptyNote, ListView, Panel, useSearchState, When } from '@libs/ui';
import { Badge, Text } from '@mantine/core';
import { useList } from '../api/client.ts';
import { whileFirst } from '../api/polling.ts';
import { texts } from '../texts.ts';

const words = texts.team;

interface AuditEntry {
  id: string;
  at: string;
  user_id: string;
  user_name: string | null;
  user_email: string | null;
  action: string;
  target: string | null;
  outcome: 'success' | 'refused' | 'failure';
  ip: string | null;
}

const colors = { success: 'teal', refused: 'orange', failure: 'red' } as const;

const columns: readonly Column<AuditEntry>[] = [
  { header: words.action, render: ({ action }) => words.actions[action] ?? action },
  {
    header: words.who,
    written: true,
    render: ({ user_id: id, user_name: name, user_email: email, ip }) => (
      <div title={email ?? id}>
        {name || email || (id === 'operator' ? words.operator : id)}
        <Text size="xs" c="dimmed">
          {ip}
        </Text>
      </div>
    ),
  },
  {
    header: words.target,
    // No link: the log has both modes, and a page shows the objects of one.
    render: ({ target }) => (target === null ? '–' : <CopyText text={target} label={words.target} />),
  },
  {
    header: words.outcome,
    render: ({ outcome }) => <Badge color={colors[outcome]}>{words.outcomes[outcome]}</Badge>,
  },
  { header: words.at, align: 'right', render: ({ at }) => <When at={at} /> },
];

/** What people of the organisation did, for its owners; what programs do is told by events and the request log. */
export function ActivityPanel() {
  const { cursor } = useSearchState().values;
  const search = { cursor };
  const query = useList<AuditEntry>('/v1/audit', search, whileFirst(search));
  return (
    <Panel title={words.activity} lead={words.activityLead} flush>
      <ListView
        label={words.activity}
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<EmptyNote>{words.noActivity}</EmptyNote>}
      />
    </Panel>
  );
}
