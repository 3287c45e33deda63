// A rail as somebody would add it: this folder is all of it. A letter leaves by pigeon, and the pigeon's return settles it.
import { completeJobs, type Job, type NewJob } from '@libs/jobs';
import type { RailDependencies } from '../../dependencies.ts';
import { rejectedByOrder, settledByOrder } from '../../forced.ts';
import type { Rail, RailOutcome } from '../../rail.ts';
import type { RailId } from '../../rail-ids.ts';

const ID = 'pigeon' as RailId;
const FLIGHT_JOB = 'pigeon.flight';
const FLIGHT_MS = 100;
const AMOUNT_MAX = 500_00;
const FEE_CENTS = 7;

interface Flight {
  tenantId: string;
  paymentId: string;
  attemptId: string;
}

export async function createRail({ database, now, clocks }: RailDependencies): Promise<Rail> {
  const letters = new Map<string, string>();
  return {
    id: ID,
    messageKinds: ['letter'],
    inbound: null,
    books: null,
    possible({ amount, at }) {
      return {
        rail: ID,
        obstacles: amount > AMOUNT_MAX ? ['amount_over_limit'] : [],
        options: [{ fee: FEE_CENTS, settlesAt: new Date(at.getTime() + FLIGHT_MS), sameDay: true }],
      };
    },
    async submit(_tx, submissions) {
      const flights = submissions.map(({ payment, attemptId }): Flight => {
        letters.set(payment.id, `Pay ${payment.amount} to ${payment.destinationId}`);
        return { tenantId: payment.tenantId, paymentId: payment.id, attemptId };
      });
      const outcomes = flights.map((flight, index): RailOutcome => {
        const at = submissions[index]?.at ?? now();
        return { ...flight, kind: 'submitted', reference: `ring ${flight.paymentId}`, at };
      });
      const runAt = new Date(now().getTime() + FLIGHT_MS);
      return { outcomes, jobs: flights.map((payload): NewJob => ({ name: FLIGHT_JOB, payload, runAt })) };
    },
    meaningOf(outcome) {
      if (outcome === 'settle') return { ok: true, meaning: null };
      if (outcome !== 'reject') return { ok: false, reason: 'not_on_this_rail' };
      return { ok: true, meaning: { networkCode: 'HAWK', code: 'eaten', detail: 'A hawk came.' } };
    },
    async messagesOf(_db, { id }) {
      const content = letters.get(id);
      const message = {
        id: `msg_${id}`,
        rail: ID,
        direction: 'out',
        kind: 'letter',
        createdAt: now(),
      } as const;
      return content === undefined ? [] : [{ ...message, content }];
    },
    work: ({ applyOutcomes }) => ({
      handlers: [
        {
          name: FLIGHT_JOB,
          batchMax: 10,
          handle: (jobs) =>
            database.transaction(async (tx) => {
              const flights = (jobs as readonly Job<Flight>[]).map(({ payload }) => payload);
              const times = await clocks.timesOf(
                tx,
                flights.map(({ tenantId }) => tenantId),
              );
              const settled = flights.map(
                (flight): RailOutcome => ({ ...flight, kind: 'settled', at: times.at(flight.tenantId) }),
              );
              await applyOutcomes(tx, settled);
              await completeJobs(tx, jobs);
            }),
        },
      ],
      cron: [],
      whenClockMoves: () => [],
      lockFor: async () => {},
      applyAside: async () => ({ ok: false, reason: 'Nothing of this rail is applied by hand.' }),
      force: async (_tx, payment, { outcome, meaning, at }) =>
        outcome === 'settle' ? settledByOrder(payment, at) : rejectedByOrder(payment, meaning),
    }),
    close: async () => {},
  };
}
