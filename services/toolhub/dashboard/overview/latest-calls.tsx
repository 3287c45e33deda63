import { type Column, EmptyNote, Panel, QueryTable, When } from '@libs/ui';
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { FOLLOW_MS, useList } from '../api/client.ts';
import { type AuditEntry, OutcomeBadge } from '../audit/entry.tsx';
import { ActorName, type Names, ToolName, useNames } from '../audit/names.tsx';
import { texts } from '../texts.ts';

const words = texts.overview;
const SHOWN = 8;

const columnsWith = (names: Names): readonly Column<AuditEntry>[] => [
  { header: words.tool, render: ({ target }) => <ToolName name={target ?? ''} names={names} /> },
  { header: words.outcome, render: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  { header: words.by, written: true, render: ({ actor }) => <ActorName actor={actor} names={names} /> },
  { header: words.when, align: 'right', render: ({ at }) => <When at={at} /> },
];

export function LatestCalls() {
  const query = useList<AuditEntry>(
    '/api/audit',
    { action: 'tool.call', limit: SHOWN },
    { refetchMs: () => FOLLOW_MS },
  );
  const names = useNames(query.data?.data ?? []);
  return (
    <Panel
      title={words.latest}
      flush
      actions={
        <Button
          component={Link}
          to="/audit"
          search={{ action: 'tool.call' } as never}
          size="xs"
          variant="default"
        >
          {words.all}
        </Button>
      }
    >
      <QueryTable
        label={words.latest}
        query={query}
        columns={columnsWith(names)}
        keyOf={({ id }) => id}
        empty={<EmptyNote>{words.noCalls}</EmptyNote>}
      />
    </Panel>
  );
}
