import { ActionButton, type Column, deviceOf, Panel, QueryTable, toast, When } from '@libs/ui';
import { Badge } from '@mantine/core';
import { client, refresh, useList } from '../api/client.ts';
import { texts } from '../texts.ts';

const words = texts.settings;
const SESSIONS_PATH = '/api/sessions';

interface OwnSession {
  id: string;
  current: boolean;
  ip: string | null;
  user_agent: string | null;
  created_at: string;
}

const columns: readonly Column<OwnSession>[] = [
  {
    header: words.device,
    render: ({ user_agent: agent, current }) => (
      <span>
        {agent === null ? '–' : deviceOf(agent)}{' '}
        {current ? <Badge color="teal">{words.thisOne}</Badge> : null}
      </span>
    ),
  },
  { header: words.address, render: ({ ip }) => ip ?? '–' },
  { header: words.started, align: 'right', render: ({ created_at: at }) => <When at={at} /> },
  {
    header: texts.common.actions,
    render: ({ id, current }) =>
      current ? (
        ''
      ) : (
        <ActionButton
          onAct={async () => {
            await client.delete(`${SESSIONS_PATH}/${id}`);
            await refresh(SESSIONS_PATH);
            toast.done(words.ended);
          }}
        >
          {words.end}
        </ActionButton>
      ),
  },
];

export function SessionsPanel() {
  const query = useList<OwnSession>(SESSIONS_PATH);
  return (
    <Panel title={words.sessions} lead={words.sessionsLead} flush>
      <QueryTable label={words.sessions} columns={columns} query={query} keyOf={({ id }) => id} />
    </Panel>
  );
}
