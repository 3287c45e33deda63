import { EmptyNote, PagedTable, Panel, usePlace } from '@libs/ui';
import { useList } from '../../api/client.ts';
import type { Payment } from '../../api/types.ts';
import { texts } from '../../texts.ts';
import { paymentColumns } from '../columns.tsx';

const words = texts.payment;

/** What was given back of a payment, those included that failed; nothing where nobody asked for any. */
export function RefundsPanel({ payment }: { payment: Pick<Payment, 'id' | 'refunded_amount'> }) {
  const place = usePlace();
  const query = useList<Payment>('/v1/payments', { refund_of: payment.id, cursor: place.cursor });
  const isFirst = place.cursor === undefined;
  if (payment.refunded_amount === 0 && isFirst && (query.data?.data.length ?? 0) === 0) return null;
  return (
    <Panel title={words.refundList} flush>
      <PagedTable
        place={place}
        label={words.refundList}
        columns={paymentColumns}
        query={query}
        keyOf={({ id }) => id}
        empty={<EmptyNote>{words.noRefunds}</EmptyNote>}
      />
    </Panel>
  );
}
