import type { FieldError } from '@libs/runtime';
import { errors } from '../../errors.ts';
import { AMOUNT_MAX } from '../payment.ts';
import type { CreatePaymentBody } from '../schemas.ts';
import type { PaymentInput } from './draft.ts';

const CURRENCY = 'USD';
/** In dollars as well: the dashboard shows it at a field that takes them. */
const AT_MOST = `At most ${AMOUNT_MAX} minor units, which is $${(AMOUNT_MAX / 100).toLocaleString('en-US')}.`;

/** The body as the domain knows it; what fits the schema but cannot be meant is refused here. */
export function inputFromBody(body: CreatePaymentBody): PaymentInput {
  const rail = body.rail ?? 'auto';
  if (body.amount > AMOUNT_MAX) {
    throw errors.amount_too_large({
      errors: [{ pointer: '/amount', code: 'amount_too_large', detail: AT_MOST }],
    });
  }
  if (body.currency.toUpperCase() !== CURRENCY) {
    throw errors.currency_not_supported({
      errors: [{ pointer: '/currency', code: 'currency_not_supported', detail: 'The rails carry USD.' }],
    });
  }
  if (rail !== 'auto' && body.routing?.fallback === true) {
    throw errors.invalid_request({ errors: [fallbackNeedsAuto] });
  }
  if (body.source.payment_method_id === body.destination.payment_method_id) {
    throw errors.same_payment_method({
      errors: [
        {
          pointer: '/destination/payment_method_id',
          code: 'same_payment_method',
          detail: 'Money cannot go from a payment method to itself.',
        },
      ],
    });
  }
  return {
    amount: body.amount,
    currency: body.currency,
    sourceId: body.source.payment_method_id,
    destinationId: body.destination.payment_method_id,
    rail,
    prefer: body.routing?.prefer ?? 'balanced',
    fallback: rail === 'auto' && (body.routing?.fallback ?? true),
    description: body.description ?? null,
    metadata: body.metadata ?? {},
  };
}

const fallbackNeedsAuto: FieldError = {
  pointer: '/routing/fallback',
  code: 'fallback_needs_auto',
  detail: 'A fallback is possible only with rail "auto".',
};

/**
 * What makes two bodies the same: their values after parsing, whatever the order of their fields. The schema knows
 * every field, so listing them is quicker than sorting keys.
 */
export function canonicalBodyOf(body: CreatePaymentBody): string {
  const { metadata, routing } = body;
  return JSON.stringify([
    body.amount,
    body.currency,
    body.source.payment_method_id,
    body.destination.payment_method_id,
    body.rail ?? null,
    routing ? [routing.prefer ?? null, routing.fallback ?? null] : null,
    body.description ?? null,
    metadata ? Object.entries(metadata).sort(([a], [b]) => (a < b ? -1 : 1)) : null,
  ]);
}
