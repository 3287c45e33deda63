import { Amount, CopyText, Facts, formatAmount, Panel, When } from '@libs/ui';
import { Anchor, Badge, Group } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Payment } from '../../api/types.ts';
import { MethodLink } from '../../payment-methods/method.tsx';
import { texts } from '../../texts.ts';
import { RailName } from '../status.tsx';

const words = texts.payment;

export function FactsPanel({ payment }: { payment: Payment }) {
  const pairs = Object.entries(payment.metadata);
  return (
    <Panel title={words.facts}>
      <Facts
        facts={[
          [texts.payments.id, <CopyText key="id" text={payment.id} label={texts.payments.id} />],
          [texts.payments.from, <MethodLink key="from" id={payment.source.payment_method_id} />],
          [texts.payments.to, <MethodLink key="to" id={payment.destination.payment_method_id} />],
          [texts.payments.rail, <RailName key="rail" rail={payment.rail_selected} />],
          [words.fee, feeOf(payment)],
          [
            words.refunds,
            payment.refunded_amount > 0 ? <Amount key="refunded" minor={payment.refunded_amount} /> : null,
          ],
          [
            words.refundOf,
            payment.refund_of === null ? null : <PaymentLink key="of" id={payment.refund_of} />,
          ],
          [texts.payments.description, payment.description],
          [
            texts.payments.metadata,
            pairs.length === 0 ? null : (
              <Group key="metadata" gap={6}>
                {pairs.map(([key, value]) => (
                  <Badge key={key} variant="default" h="auto" styles={{ label: { whiteSpace: 'normal' } }}>
                    {key}={value}
                  </Badge>
                ))}
              </Group>
            ),
          ],
          [texts.payments.created, <When key="created" at={payment.created_at} withZone />],
          [words.updated, <When key="updated" at={payment.updated_at} withZone />],
        ]}
      />
    </Panel>
  );
}

/** It is booked when a payment completes, and stays booked when that is returned. */
function feeOf({ status, fee, currency }: Payment): string {
  const amount = formatAmount(fee.amount, currency);
  if (status === 'pending' || status === 'processing') return words.feeWhenCompleted(amount);
  return status === 'failed' || status === 'canceled' ? words.feeNotTaken : amount;
}

function PaymentLink({ id }: { id: string }) {
  return (
    <Anchor component={Link} to="/payments/$id" params={{ id } as never} className="ui-id">
      {id}
    </Anchor>
  );
}
