import { type Column, formatAmount, Panel, QueryTable } from '@libs/ui';
import type { Plan } from '../billing/invoice.ts';
import { texts } from '../texts.ts';
import { useList } from './operator.ts';

const words = texts.admin;

const columns: readonly Column<Plan>[] = [
  { header: words.plan, render: ({ name, id }) => <strong>{`${name} (${id})`}</strong> },
  { header: words.price, align: 'right', render: ({ price_cents: cents }) => formatAmount(cents) },
  {
    header: words.includedCalls,
    align: 'right',
    render: ({ included_calls: calls }) => calls.toLocaleString(),
  },
  {
    header: words.beyond,
    align: 'right',
    render: ({ hard_stop: stops, overage_cents_per_1000: cents }) =>
      stops ? words.stops : words.perThousand(formatAmount(cents)),
  },
];

export function PlansTab() {
  return (
    <Panel title={words.tabs.plans} lead={words.plansLead} flush>
      <QueryTable
        label={words.tabs.plans}
        query={useList<Plan>('/api/plans')}
        columns={columns}
        keyOf={({ id }) => id}
      />
    </Panel>
  );
}
