import { Amount, type Column, formatAmount, When } from '@libs/ui';
import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Payment } from '../api/types.ts';
import { MethodName } from '../payment-methods/method.tsx';
import { texts } from '../texts.ts';
import { PaymentStatusBadge, RailName } from './status.tsx';

const words = texts.payments;

export const paymentColumns: readonly Column<Payment>[] = [
  {
    header: words.amount,
    align: 'right',
    render: ({ id, amount, currency }) => (
      <Link
        to="/payments/$id"
        params={{ id } as never}
        data-row
        aria-label={`${words.id} ${id} ${formatAmount(amount, currency)}`}
      >
        <strong>
          <Amount minor={amount} currency={currency} />
        </strong>
      </Link>
    ),
  },
  { header: words.status, render: ({ status }) => <PaymentStatusBadge status={status} /> },
  { header: words.rail, render: ({ rail_selected: rail }) => <RailName rail={rail} /> },
  {
    header: words.way,
    written: true,
    render: ({ source, destination }) => (
      <span>
        <MethodName id={source.payment_method_id} />
        <br />→ <MethodName id={destination.payment_method_id} />
      </span>
    ),
  },
  { header: words.description, written: true, render: (payment) => <Described payment={payment} /> },
  { header: words.created, align: 'right', render: ({ created_at: at }) => <When at={at} /> },
];

/** A refund looks like any payment otherwise, and one that was given back like one that was not. */
function Described({ payment }: { payment: Payment }) {
  const { description, refund_of: refunded, refunded_amount: back, currency } = payment;
  const marks = [
    ...(refunded === null ? [] : [texts.payment.refund]),
    ...(back === 0 ? [] : [words.refunded(formatAmount(back, currency))]),
  ];
  return (
    <>
      {description}
      {marks.map((mark) => (
        <Text key={mark} size="sm" c="dimmed">
          {mark}
        </Text>
      ))}
    </>
  );
}
