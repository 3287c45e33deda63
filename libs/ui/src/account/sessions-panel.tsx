import { Badge } from '@mantine/core';
import { ActionButton } from '../show/action-button.tsx';
import { ConfirmButton } from '../show/confirm.tsx';
import { Panel } from '../show/panel.tsx';
import { toast } from '../show/toast.ts';
import { When } from '../show/when.tsx';
import type { Column } from '../table/columns-for.ts';
import { PagedTable } from '../table/paged-table.tsx';
import { usePlace } from '../table/place.ts';
import type { Account } from './account.ts';
import { deviceOf } from './device.ts';
import { texts } from './texts.ts';

const words = texts.sessions;

interface OwnSession {
  id: string;
  current: boolean;
  user_agent: string | null;
  ip: string | null;
  created_at: string;
  expires_at?: string;
}

function columnsOf(account: Account, path: string): readonly Column<OwnSession>[] {
  return [
    {
      header: words.device,
      render: ({ user_agent: agent, current }) => (
        <span>
          {agent === null ? '–' : deviceOf(agent)}{' '}
          {current ? <Badge color="brand">{words.thisOne}</Badge> : null}
        </span>
      ),
    },
    { header: words.address, render: ({ ip }) => <span>{ip ?? '–'}</span> },
    { header: words.since, align: 'right', render: ({ created_at: at }) => <When at={at} /> },
    { header: words.expires, align: 'right', render: ({ expires_at: at }) => <When at={at} dayOnly /> },
    {
      header: texts.actions,
      has: ({ current }) => !current,
      render: ({ id }) => (
        <ActionButton
          onAct={async () => {
            await account.client.delete(`${path}/${id}`);
            await account.api.refresh(path);
            toast.done(words.ended);
          }}
        >
          {words.end}
        </ActionButton>
      ),
    },
  ];
}

export function SessionsPanel({ account }: { account: Account }) {
  const path = `${account.paths.own}/sessions`;
  const place = usePlace();
  const query = account.api.useList<OwnSession>(path, { cursor: place.cursor });
  const hasOthers = place.cursor !== undefined || (query.data?.data ?? []).some(({ current }) => !current);
  const endOthers = async () => {
    await account.client.delete(path);
    place.toFirst();
    await account.api.refresh(path);
    toast.done(words.othersEnded);
  };
  return (
    <Panel
      title={words.title}
      lead={words.lead}
      flush
      actions={
        hasOthers ? (
          <ConfirmButton
            danger
            label={words.endOthers}
            question={words.endOthersQuestion}
            explanation={words.endOthersHint}
            onConfirm={endOthers}
          />
        ) : null
      }
    >
      <PagedTable
        label={words.title}
        columns={columnsOf(account, path)}
        query={query}
        keyOf={({ id }) => id}
        place={place}
      />
    </Panel>
  );
}
