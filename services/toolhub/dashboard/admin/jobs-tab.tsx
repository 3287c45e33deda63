import {
  ActionButton,
  type Column,
  Empty,
  PagedTable,
  Panel,
  QueryTable,
  toast,
  usePlace,
  When,
} from '@libs/ui';
import { Stack } from '@mantine/core';
import { FOLLOW_MS } from '../api/client.ts';
import { texts } from '../texts.ts';
import { operator, refresh, useList } from './operator.ts';

const words = texts.admin;
const JOBS_PATH = '/api/admin/jobs';

interface Job {
  name: string;
  due: number;
  scheduled: number;
  failed: number;
  next_run_at: string | null;
  last_error: string | null;
}

interface FailedJob {
  id: number;
  name: string;
  attempts: number;
  failed_at: string;
  last_error: string | null;
}

const jobColumns: readonly Column<Job>[] = [
  { header: words.job, render: ({ name }) => <strong>{name}</strong> },
  { header: words.due, align: 'right', render: ({ due }) => due },
  { header: words.scheduled, align: 'right', render: ({ scheduled }) => scheduled },
  { header: words.failed, align: 'right', render: ({ failed }) => failed },
  { header: words.nextRun, align: 'right', render: ({ next_run_at: at }) => <When at={at} /> },
  {
    header: words.lastError,
    wide: true,
    has: ({ last_error: error }) => error !== null,
    render: ({ last_error: error }) => error,
  },
];

const failedColumns: readonly Column<FailedJob>[] = [
  { header: words.job, render: ({ name }) => <strong>{name}</strong> },
  { header: words.attempts, align: 'right', render: ({ attempts }) => attempts },
  { header: words.failedAt, align: 'right', render: ({ failed_at: at }) => <When at={at} /> },
  { header: words.lastError, wide: true, render: ({ last_error: error }) => error ?? '' },
  {
    header: texts.common.actions,
    align: 'right',
    render: ({ id }) => (
      <ActionButton
        onAct={async () => {
          await operator.post(`${JOBS_PATH}/${id}/retry`);
          await refresh(JOBS_PATH);
          toast.done(words.retried);
        }}
      >
        {words.retry}
      </ActionButton>
    ),
  },
];

export function JobsTab() {
  // Work goes on while somebody looks.
  const follow = { refetchMs: () => FOLLOW_MS };
  const jobs = useList<Job>(JOBS_PATH, {}, follow);
  const place = usePlace();
  const failed = useList<FailedJob>('/api/admin/jobs/failed', { cursor: place.cursor }, follow);
  return (
    <Stack gap="lg">
      <Panel title={words.tabs.jobs} flush>
        <QueryTable label={words.tabs.jobs} query={jobs} columns={jobColumns} keyOf={({ name }) => name} />
      </Panel>
      <Panel title={words.failedJobs} flush>
        <PagedTable
          place={place}
          label={words.failedJobs}
          query={failed}
          columns={failedColumns}
          keyOf={({ id }) => String(id)}
          empty={<Empty icon="check" title={words.noFailedJobs} />}
        />
      </Panel>
    </Stack>
  );
}
