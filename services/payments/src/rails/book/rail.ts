import { rejectedByOrder, settledByOrder } from '../forced.ts';
import type { Rail, RailOutcome } from '../rail.ts';
import { BOOK_TERMS } from './terms.ts';

/** Between two balances held here: at once, free, and no message leaves the house. */
export function createBookRail(terms = BOOK_TERMS): Rail {
  return {
    id: 'book',
    messageKinds: [],
    inbound: null,
    books: null,
    possible({ source, destination, at }) {
      const between = source.type === 'balance' && destination.type === 'balance';
      return {
        rail: 'book',
        obstacles: between ? [] : ['only_between_balances'],
        options: [{ fee: terms.feeCents, settlesAt: at, sameDay: false }],
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
    meaningOf: (outcome) =>
      outcome === 'settle' || outcome === 'reject'
        ? { ok: true, meaning: null }
        : { ok: false, reason: 'not_on_this_rail' },
    messagesOf: async () => [],
    work: () => ({
      handlers: [],
      cron: [],
      whenClockMoves: () => [],
      lockFor: async () => {},
      applyAside: async () => ({ ok: false, reason: 'Nothing of this rail is applied by hand.' }),
      force: async (_tx, payment, { outcome, at }) =>
        outcome === 'settle' ? settledByOrder(payment, at) : rejectedByOrder(payment, null),
    }),
    close: async () => {},
  };
}

export const createRail = async (): Promise<Rail> => createBookRail();
