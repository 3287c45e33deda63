import { AppError } from '@libs/runtime';
import type { Tenant } from '../tenant.ts';
import type { Accept, AcceptResponse } from './accept/accept.ts';
import type { AcceptRequest } from './accept/draft.ts';
import type { Payment } from './payment.ts';
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
      for (let look = 1; ; look += 1) {
        const original = await reading.get(tenant, request.paymentId);
        try {
          return await accept({ tenant, ...toAccept(request, original) });
        } catch (error) {
          if (request.amount !== null || look === LOOKS_MAX || !isLessLeft(error)) throw error;
        }
      }
    },
  };
}

/** How often "all that is left" is looked up again because another refund came first. */
const LOOKS_MAX = 5;

/** Whether there is still something to refund, but no more as much as was seen. */
function isLessLeft(error: unknown): boolean {
  return (
    error instanceof AppError &&
    error.code === 'refund_exceeds_payment' &&
    Number(error.extra?.refundable_amount) > 0
  );
}

function toAccept(
  { path, key, amount, description, metadata }: RefundRequest,
  original: Payment,
): Omit<AcceptRequest, 'tenant'> {
  return {
    ...{ path, key },
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
  };
}

export type Refunds = ReturnType<typeof createRefunds>;
