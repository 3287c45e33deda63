import { type Column, formatAmount, Panel, QueryTable } from '@libs/ui';
import { Button, Modal } from '@mantine/core';
import { useState } from 'react';
import type { Plan } from '../billing/invoice.ts';
import { texts } from '../texts.ts';
import { useList } from './operator.ts';
import { PlanForm } from './plan-form.tsx';

const words = texts.admin;

function columnsWith(edit: (plan: Plan) => void): Column<Plan>[] {
  return [
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
    {
      header: texts.common.actions,
      align: 'right',
      render: (plan) => (
        <Button
          size="xs"
          variant="default"
          onClick={() => edit(plan)}
          aria-label={`${words.editPlan} ${plan.name}`}
        >
          {words.editPlan}
        </Button>
      ),
    },
  ];
}

export function PlansTab() {
  const [edited, setEdited] = useState<Plan | 'new'>();
  const close = () => setEdited(undefined);
  return (
    <Panel
      title={words.tabs.plans}
      lead={words.plansLead}
      flush
      actions={
        <Button size="xs" onClick={() => setEdited('new')}>
          {words.newPlan}
        </Button>
      }
    >
      <QueryTable
        label={words.tabs.plans}
        query={useList<Plan>('/api/plans')}
        columns={columnsWith(setEdited)}
        keyOf={({ id }) => id}
      />
      <Modal
        opened={edited !== undefined}
        onClose={close}
        title={edited === 'new' ? words.newPlan : words.editPlan}
        size="lg"
      >
        {edited === undefined ? null : (
          <PlanForm plan={edited === 'new' ? undefined : edited} onDone={close} />
        )}
      </Modal>
    </Panel>
  );
}
