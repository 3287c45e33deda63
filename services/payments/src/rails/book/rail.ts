import type { RailTerms } from '../../routing/terms.ts';
import type { Rail, RailOutcome } from '../rail.ts';

/** Between two balances held here: at once, free, and no message leaves the house. */
export function createBookRail(terms: RailTerms): Rail {
  return {
    id: 'book',
    possible({ source, destination, at }) {
      const between = source.type === 'balance' && destination.type === 'balance';
      return {
        rail: 'book',
        obstacles: between ? [] : ['only_between_balances'],
        options: [{ fee: terms.book.feeCents, settlesAt: at, sameDay: false }],
      };
    },
    async submit(_tx, submissions) {
      const outcomes = submissions.flatMap(({ payment, attemptId, at }): RailOutcome[] => {
        const key = { tenantId: payment.tenantId, paymentId: payment.id, attemptId };
        return [
          { ...key, kind: 'submitted', reference: payment.id, at },
          { ...key, kind: 'settled', at },
        ];
      });
      return { outcomes, jobs: [] };
    },
  };
}
