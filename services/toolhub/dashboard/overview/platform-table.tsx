import { type Column, DataTable } from '@libs/ui';
import { platformTitle } from '../connections/platforms.ts';
import { texts } from '../texts.ts';
import type { Usage, UsageGroup } from './usage.ts';

const words = texts.overview;
const milliseconds = (value: number | null) => (value === null ? '–' : `${value.toLocaleString()} ms`);

const columns: readonly Column<UsageGroup>[] = [
  { header: words.platform, render: ({ key }) => <strong>{platformTitle(key)}</strong> },
  { header: words.calls, align: 'right', render: ({ calls }) => calls.toLocaleString() },
  { header: words.failed, align: 'right', render: ({ errors }) => errors.toLocaleString() },
  { header: words.p50, align: 'right', render: ({ p50_ms: p50 }) => milliseconds(p50) },
  { header: words.p95, align: 'right', render: ({ p95_ms: p95 }) => milliseconds(p95) },
];

export function PlatformTable({ usage }: { usage: Usage }) {
  return <DataTable label={words.perPlatform} columns={columns} rows={usage.data} keyOf={({ key }) => key} />;
}
