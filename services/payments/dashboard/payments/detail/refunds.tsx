import { EmptyNote, Panel, QueryTable } from '@libs/ui';
import { useList } from '../../api/client.ts';
import type { Payment } from '../../api/types.ts';
import { texts } from '../../texts.ts';
import { paymentColumns } from '../columns.tsx';

const words = texts.payment;
const REFUNDS_MAX = 50;

/** What was given back of a payment, those included that failed; nothing where nobody asked for any. */
export function RefundsPanel({ payment }: { payment: Pick<Payment, 'id' | 'refunded_amount'> }) {
  const query = useList<Payment>('/v1/payments', { refund_of: payment.id, limit: REFUNDS_MAX });
  if (payment.refunded_amount === 0 && (query.data?.data.length ?? 0) === 0) return null;
  return (
    <Panel title={words.refundList} flush>
      <QueryTable
        label={words.refundList}
        columns={paymentColumns}
        query={query}
        keyOf={({ id }) => id}
        empty={<EmptyNote>{words.noRefunds}</EmptyNote>}
      />
    </Panel>
  );
}
