import { download, type Search } from '@libs/ui';
import { client } from '../api/client.ts';
import { paymentQuery } from './query.ts';

/** A file of all payments that the filters let through. A plain link cannot say in which mode it asks. */
export function exportPayments({ cursor: _cursor, ...filters }: Search): Promise<void> {
  return download(client, '/v1/payments/export', { query: { format: 'csv', ...paymentQuery(filters) } });
}
