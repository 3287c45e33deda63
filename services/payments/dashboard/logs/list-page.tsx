import {
  ChoiceFilter,
  type Column,
  Empty,
  FilterBar,
  type ListPage,
  ListPanel,
  Page,
  TextFilter,
  useSearchState,
  When,
} from '@libs/ui';
import { Badge, Button, Paper, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useList } from '../api/client.ts';
import { whileFirst } from '../api/polling.ts';
import { useRights } from '../session/session.ts';
import { texts } from '../texts.ts';
import { useCallers } from './callers.ts';
import { LOGS_PATH, type RequestLog, statusColor } from './log.ts';

const words = texts.logs;
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'];

const columnsWith = (callerOf: (id: string | null) => string): Column<RequestLog>[] => [
  {
    header: words.path,
    render: ({ id, method, path }) => (
      <Link to="/logs/$id" params={{ id } as never} data-row className="ui-id">
        <strong>{method}</strong> {path}
      </Link>
    ),
  },
  { header: words.status, render: ({ status }) => <Badge color={statusColor(status)}>{status}</Badge> },
  {
    header: words.caller,
    written: true,
    render: ({ key_id: key, user_id: user }) => (
      <span title={key ?? user ?? ''}>{callerOf(key ?? user)}</span>
    ),
  },
  { header: words.duration, align: 'right', render: ({ duration_ms: ms }) => `${ms} ms` },
  { header: words.at, align: 'right', render: ({ created_at: at }) => <When at={at} /> },
];

interface LogPage extends ListPage<RequestLog> {
  left_out: number;
  kept_days: number;
}

export function LogsPage() {
  const search = useSearchState();
  const query = useList<RequestLog>(LOGS_PATH, search.values, whileFirst(search.values));
  const callerOf = useCallers(query.data?.data ?? []);
  const rights = useRights();
  const data = query.data as LogPage | undefined;
  if (data?.kept_days === 0)
    return (
      <Page title={words.title}>
        <Paper className="ui-panel">
          <Empty icon="list" title={words.notKept} next={words.notKeptNext} />
        </Paper>
      </Page>
    );
  return (
    <Page title={words.title}>
      <FilterBar>
        <ChoiceFilter
          name="method"
          label={words.method}
          choices={METHODS.map((value) => ({ value, label: value }))}
        />
        <ChoiceFilter
          name="status"
          label={words.status}
          choices={Object.entries(words.statuses).map(([value, label]) => ({ value, label }))}
        />
        <TextFilter name="path" label={words.path} placeholder="/v1/payments" />
        <TextFilter name="key" label={words.key} placeholder="key_…" />
        <TextFilter name="request_id" label={words.id} placeholder="req_…" />
      </FilterBar>
      {data === undefined ? null : (
        <Text size="sm" c="dimmed">
          {words.kept(data.kept_days)} {data.left_out > 0 ? words.leftOut(data.left_out) : null}
        </Text>
      )}
      <ListPanel
        label={words.title}
        query={query}
        columns={columnsWith(callerOf)}
        keyOf={({ id }) => id}
        empty={
          <Empty
            icon="list"
            title={words.none}
            next={words.noneNext}
            {...(rights.write
              ? {
                  action: (
                    <Button component={Link} to="/keys">
                      {texts.keys.create}
                    </Button>
                  ),
                }
              : {})}
          />
        }
      />
    </Page>
  );
}
