import { type Column, DataTable, Panel, ProblemView, When } from '@libs/ui';
import { Badge, Text } from '@mantine/core';
import { HealthBadge } from '../connections/health-badge.tsx';
import { type HealthReport, type PlatformHealth, platformTitle } from '../connections/platforms.ts';
import { texts } from '../texts.ts';
import { useObject } from './operator.ts';

const words = texts.admin;

const columns: readonly Column<PlatformHealth>[] = [
  { header: texts.overview.platform, render: ({ platform }) => <strong>{platformTitle(platform)}</strong> },
  {
    header: words.status,
    render: ({ status }) =>
      // Of a platform without a place of its own there is nothing to check; the message says why.
      status === 'unknown' ? (
        <Badge color="gray">{words.nothingToCheck}</Badge>
      ) : (
        <HealthBadge status={status} />
      ),
  },
  {
    header: words.latency,
    align: 'right',
    render: ({ latency_ms: ms }) => (ms === null ? '–' : `${ms.toLocaleString()} ms`),
  },
  { header: words.message, wide: true, render: ({ message }) => message ?? '' },
];

/** The platforms as such, without a word about any customer. */
export function HealthTab() {
  const query = useObject<HealthReport>('/api/health/platforms');
  return (
    <Panel
      title={words.tabs.health}
      lead={words.healthLead}
      flush
      actions={
        <Text size="sm" c="dimmed" component="div">
          {texts.connections.checked} <When at={query.data?.checked_at} />
        </Text>
      }
    >
      {query.isError ? (
        <ProblemView error={query.error} retry={query.refetch} />
      ) : (
        <DataTable
          label={words.tabs.health}
          columns={columns}
          rows={query.data?.platforms}
          keyOf={({ platform }) => platform}
        />
      )}
    </Panel>
  );
}
