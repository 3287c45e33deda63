import type { RailBooks } from '../../../reconciliation/reconciliation.ts';
import { achEntryDifferences, achPaymentDifferences, achTotals } from './books-store.ts';

/** The sandbox's operator shows its books; a live bank sends statements, which are not read. */
export const achBooks: RailBooks = {
  async totals(db, query) {
    const { ours, network } = await achTotals(db, query);
    return { ours, network: query.mode === 'test' ? network : null };
  },
  async differences(db, query, limit) {
    const byEntry = query.mode === 'test' ? [await achEntryDifferences(db, query, limit)] : [];
    return [...byEntry, await achPaymentDifferences(db, query, limit)];
  },
};
