import { type Column, DataTable, Facts, Panel, QueryView, When } from '@libs/ui';
import { Stack } from '@mantine/core';
import { HealthBadge } from '../connections/health-badge.tsx';
import { type HealthReport, type PlatformHealth, platformTitle } from '../connections/platforms.ts';
import { texts } from '../texts.ts';
import { useObject } from './operator.ts';

const words = texts.admin;

const columns: readonly Column<PlatformHealth>[] = [
  { header: texts.overview.platform, render: ({ platform }) => <strong>{platformTitle(platform)}</strong> },
  { header: words.status, render: ({ status }) => <HealthBadge status={status} /> },
  {
    header: words.latency,
    align: 'right',
    render: ({ latency_ms: ms }) => (ms === null ? '–' : `${ms.toLocaleString()} ms`),
  },
  { header: words.message, render: ({ message }) => message ?? '' },
];

/** The platforms as such, without a word about any customer. */
export function HealthTab() {
  const query = useObject<HealthReport>('/api/health/platforms');
  return (
    <Panel title={words.tabs.health} lead={words.healthLead}>
      <QueryView query={query}>
        {(report) => (
          <Stack>
            <Facts facts={[[texts.connections.checked, <When key="at" at={report.checked_at} />]]} />
            <DataTable
              label={words.tabs.health}
              columns={columns}
              rows={report.platforms}
              keyOf={({ platform }) => platform}
            />
          </Stack>
        )}
      </QueryView>
    </Panel>
  );
}
