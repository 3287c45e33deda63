import { csvLine } from '@libs/http';
import { isoTime } from '../clock/iso-time.ts';
import type { Tenant } from '../tenant.ts';
import type { PaymentFilter } from './list-store.ts';
import type { Payment } from './payment.ts';
import type { PaymentsService } from './service.ts';

const PAGE = 1_000;

const columns: readonly [name: string, value: (payment: Payment) => string | number | null][] = [
  ['id', (payment) => payment.id],
  ['created_at', (payment) => isoTime(payment.createdAt)],
  ['status', (payment) => payment.status],
  ['amount', (payment) => payment.amount],
  ['currency', (payment) => payment.currency],
  ['source', (payment) => payment.sourceId],
  ['destination', (payment) => payment.destinationId],
  ['rail', (payment) => payment.rail],
  ['rail_selected', (payment) => payment.railSelected],
  ['fee_amount', (payment) => payment.feeAmount],
  ['failure_code', (payment) => payment.failure?.code ?? null],
  ['network_code', (payment) => payment.failure?.network_code ?? null],
  ['description', (payment) => payment.description],
  ['metadata', (payment) => JSON.stringify(payment.metadata)],
  ['estimated_settlement_at', (payment) => isoTime(payment.estimatedSettlementAt)],
  ['updated_at', (payment) => isoTime(payment.updatedAt)],
  [
    'completed_at',
    (payment) => payment.timeline.find(({ status }) => status === 'completed')?.timestamp ?? null,
  ],
  ['refund_of', (payment) => payment.refundOf],
  ['refunded_amount', (payment) => payment.refundedAmount],
];

export const csvHeader = csvLine(columns.map(([name]) => name));

/** All payments that fit the filter, newest first, page by page: memory stays the same however many there are. */
export async function* exportCsv(
  payments: PaymentsService,
  tenant: Tenant,
  filter: Omit<PaymentFilter, 'beforeId' | 'limit'>,
): AsyncGenerator<string> {
  yield csvHeader;
  let beforeId: string | null = null;
  for (;;) {
    const page: Payment[] = await payments.list(tenant, { ...filter, beforeId, limit: PAGE });
    if (page.length > 0)
      yield page.map((payment) => csvLine(columns.map(([, value]) => value(payment)))).join('');
    if (page.length < PAGE) return;
    beforeId = page.at(-1)?.id ?? null;
  }
}
