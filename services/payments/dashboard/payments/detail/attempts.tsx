import { Coded, type Column, CopyText, capitalised, DataTable, Panel, When } from '@libs/ui';
import { Badge } from '@mantine/core';
import type { Payment, PaymentAttempt } from '../../api/types.ts';
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

const columnsFor = (isOver: boolean): Column<PaymentAttempt>[] => [
  { header: words.candidate, render: ({ rail }) => <RailName rail={rail} /> },
  {
    header: texts.payments.status,
    render: ({ status }) => (
      <Badge color={colors[status]}>
        {/* What waited when the payment was canceled waits for nothing any more. */}
        {isOver && status === 'waiting' ? words.neverSent : words.attemptStatuses[status]}
      </Badge>
    ),
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

export function AttemptsPanel({ payment: { attempts, status } }: { payment: Payment }) {
  const isOver = status === 'failed' || status === 'canceled';
  return (
    <Panel title={words.attempts} flush>
      <DataTable label={words.attempts} columns={columnsFor(isOver)} rows={attempts} keyOf={({ id }) => id} />
    </Panel>
  );
}
