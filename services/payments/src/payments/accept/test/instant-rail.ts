import type { Carrier, RailOutcome } from '../../../rails/rail.ts';

/** A rail whose network answers within the transaction. */
export const instantRail: Carrier = {
  id: 'rtp',
  possible: ({ at }) => ({
    rail: 'rtp',
    obstacles: [],
    options: [{ fee: 45, settlesAt: at, sameDay: false }],
  }),
  async submit(_tx, submissions) {
    if (submissions.some(({ payment }) => payment.description === 'break the batch'))
      throw new Error('broken');
    const outcomes = submissions.flatMap(({ payment, attemptId, at }): RailOutcome[] => {
      const key = { tenantId: payment.tenantId, paymentId: payment.id, attemptId };
      const sent: RailOutcome = { ...key, kind: 'submitted', reference: `ref ${payment.id}`, at };
      if (payment.description !== 'refuse me') return [sent, { ...key, kind: 'settled', at }];
      return [
        sent,
        {
          ...key,
          kind: 'rejected',
          networkCode: 'AC04',
          code: 'account_closed',
          detail: 'Closed.',
          mayWorkElsewhere: false,
        },
      ];
    });
    return { outcomes, jobs: [] };
  },
};
