import { AppError } from '@libs/runtime';
import { errors } from '../errors.ts';
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
          if (!isTooMuch(error)) throw error;
          if (request.amount !== null) throw ofAmount(error);
          if (look === LOOKS_MAX || !isSomethingLeft(error)) throw error;
        }
      }
    },
  };
}

/** How often "all that is left" is looked up again because another refund came first. */
const LOOKS_MAX = 5;

function isTooMuch(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'refund_exceeds_payment';
}

/** Then it is only no more as much as was seen. */
function isSomethingLeft({ extra }: AppError): boolean {
  return Number(extra?.refundable_amount) > 0;
}

/** Names the field that says too much; where none was sent, no field is to blame. */
function ofAmount({ detail, extra = {} }: AppError): Error {
  const field = { pointer: '/amount', code: 'refund_exceeds_payment', detail };
  return errors.refund_exceeds_payment({ detail, extra, errors: [field] });
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
