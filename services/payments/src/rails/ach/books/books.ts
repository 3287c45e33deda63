import type { RailBooks } from '../../../reconciliation/reconciliation.ts';
import {
  achEntryDifferences,
  achPaymentDifferences,
  achTotals,
  findAnsweredDays,
  hasEntriesUnderWay,
} from './books-store.ts';

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
  // A sandbox whose clock is stopped leaves entries under way for ever.
  isUnfinished: async (db, query) => query.mode === 'live' && (await hasEntriesUnderWay(db, query)),
  answeredDays: findAnsweredDays,
};
