import type { Tenant } from '../tenant.ts';
import type { Accept, AcceptResponse } from './accept/accept.ts';
import type { PaymentReading } from './reading.ts';

export interface RefundRequest {
  paymentId: string;
  path: string;
  key: string;
  /** All that is left where it is null. */
  amount: number | null;
  description: string | null;
  metadata: Readonly<Record<string, string>>;
}

/**
 * A refund is a payment the other way, accepted like any other. How much of the first one is left is decided while that
 * one is locked, so that refunds which arrive together never add up to more than it.
 */
export function createRefunds({ reading, accept }: { reading: PaymentReading; accept: Accept }) {
  return {
    async create(tenant: Tenant, request: RefundRequest): Promise<AcceptResponse> {
      const original = await reading.get(tenant, request.paymentId);
      const { path, key, amount, description, metadata } = request;
      return accept({
        ...{ tenant, path, key },
        canonicalBody: JSON.stringify([
          amount,
          description,
          Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1)),
        ]),
        input: {
          amount: amount ?? original.amount - original.refundedAmount,
          currency: original.currency,
          sourceId: original.destinationId,
          destinationId: original.sourceId,
          rail: 'auto',
          prefer: 'balanced',
          fallback: true,
          description,
          metadata,
        },
        refundOf: original,
      });
    },
  };
}

export type Refunds = ReturnType<typeof createRefunds>;
