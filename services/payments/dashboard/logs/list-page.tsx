import {
  ChoiceFilter,
  type Column,
  Empty,
  FilterBar,
  isApiError,
  ListView,
  Page,
  TextFilter,
  useSearchState,
  When,
} from '@libs/ui';
import { Badge, Paper } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useList } from '../api/client.ts';
import { texts } from '../texts.ts';
import { LOGS_PATH, type RequestLog, statusColor } from './log.ts';

const words = texts.logs;
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'];

const columns: readonly Column<RequestLog>[] = [
  {
    header: words.path,
    render: ({ id, method, path }) => (
      <Link to="/logs/$id" params={{ id } as never} data-row className="ui-id">
        <strong>{method}</strong> {path}
      </Link>
    ),
  },
  { header: words.status, render: ({ status }) => <Badge color={statusColor(status)}>{status}</Badge> },
  { header: words.duration, align: 'right', render: ({ duration_ms: ms }) => `${Math.round(ms)} ms` },
  { header: words.at, align: 'right', render: ({ created_at: at }) => <When at={at} /> },
];

export function LogsPage() {
  const search = useSearchState();
  const query = useList<RequestLog>(LOGS_PATH, search.values);
  if (isApiError(query.error, 'not_found'))
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
        <TextFilter name="status" label={words.status} placeholder="422" width={110} />
        <TextFilter name="path" label={words.path} placeholder="/v1/payments" />
      </FilterBar>
      <Paper p={0} className="ui-panel">
        <ListView
          label={words.title}
          query={query}
          columns={columns}
          keyOf={({ id }) => id}
          empty={<Empty icon="list" title={words.none} next={words.noneNext} />}
        />
      </Paper>
    </Page>
  );
}
