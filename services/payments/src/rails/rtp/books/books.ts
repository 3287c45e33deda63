import type { RailBooks } from '../../../reconciliation/reconciliation.ts';
import {
  hasUnknownTransfers,
  rtpPaymentDifferences,
  rtpTotals,
  rtpTransferDifferences,
} from './books-store.ts';

/** The sandbox's network shows its books; a live one sends statements, which are not read. */
export const rtpBooks: RailBooks = {
  async totals(db, query) {
    const { ours, network } = await rtpTotals(db, query);
    return { ours, network: query.mode === 'test' ? network : null };
  },
  async differences(db, query, limit) {
    const byTransfer = query.mode === 'test' ? [await rtpTransferDifferences(db, query, limit)] : [];
    return [...byTransfer, await rtpPaymentDifferences(db, query, limit)];
  },
  isUnfinished: hasUnknownTransfers,
  // A known outcome is final; a day with an unknown one is looked at until none is left.
  answeredDays: async () => [],
};
