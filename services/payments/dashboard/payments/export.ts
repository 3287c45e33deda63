import type { Search } from '@libs/ui';
import { client } from '../api/client.ts';
import { paymentQuery } from './query.ts';

/** A file of all payments that the filters let through. A plain link cannot say in which mode it asks. */
export async function exportPayments({ cursor: _cursor, ...filters }: Search): Promise<void> {
  const response = await client.open('/v1/payments/export', {
    query: { format: 'csv', ...paymentQuery(filters) },
  });
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = 'payments.csv';
  link.click();
  URL.revokeObjectURL(address);
}
