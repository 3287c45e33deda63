import { Coded, type Column, CopyText, capitalised, DataTable, Panel, When } from '@libs/ui';
import { Badge } from '@mantine/core';
import type { PaymentAttempt } from '../../api/types.ts';
import { texts } from '../../texts.ts';
import { RailName } from '../status.tsx';

const words = texts.payment;

const colors: Record<PaymentAttempt['status'], string> = {
  waiting: 'gray',
  submitted: 'blue',
  settled: 'brand',
  rejected: 'red',
  returned: 'orange',
  unknown: 'yellow',
};

const columns: readonly Column<PaymentAttempt>[] = [
  { header: words.candidate, render: ({ rail }) => <RailName rail={rail} /> },
  {
    header: texts.payments.status,
    render: ({ status }) => <Badge color={colors[status]}>{words.attemptStatuses[status]}</Badge>,
  },
  {
    header: words.reference,
    render: ({ network_reference: reference }) =>
      reference === null ? '–' : <CopyText text={reference} label={words.reference} />,
  },
  { header: words.submitted, align: 'right', render: ({ submitted_at: at }) => <When at={at} /> },
  { header: words.settled, align: 'right', render: ({ settled_at: at }) => <When at={at} /> },
  {
    header: words.detail,
    has: ({ code, detail }) => code !== null || detail !== null,
    render: whyOf,
  },
];

function whyOf({ code, detail }: PaymentAttempt) {
  if (code === null) return detail === null ? '' : capitalised(detail);
  return <Coded code={code} words={capitalised(detail ?? '')} />;
}

export function AttemptsPanel({ attempts }: { attempts: readonly PaymentAttempt[] }) {
  return (
    <Panel title={words.attempts} flush>
      <DataTable label={words.attempts} columns={columns} rows={attempts} keyOf={({ id }) => id} />
    </Panel>
  );
}
