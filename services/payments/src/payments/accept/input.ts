import type { FieldError } from '@libs/runtime';
import { errors } from '../../errors.ts';
import { tooLargeFields } from '../amount.ts';
import type { CreatePaymentBody } from '../schemas.ts';
import type { PaymentInput } from './draft.ts';

const CURRENCY = 'USD';

/** The body as the domain knows it; what fits the schema but cannot be meant is refused here, all of it at once. */
export function inputFromBody(body: CreatePaymentBody): PaymentInput {
  const refusals = refusalsOf(body);
  if (refusals[0] !== undefined) {
    throw errors[refusals[0].problem]({ errors: refusals.map(({ field }) => field) });
  }
  const rail = body.rail ?? 'auto';
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

/** The same of a body that its schema refused for something else. */
export function refusedFields(body: Loose<CreatePaymentBody>): readonly FieldError[] {
  return refusalsOf(body).map(({ field }) => field);
}

interface Refusal {
  problem: 'amount_too_large' | 'currency_not_supported' | 'invalid_request' | 'same_payment_method';
  field: FieldError;
}

const NONE: readonly Refusal[] = [];

/** A body of which only some fields may fit the schema. */
type Loose<T> = { [Name in keyof T]?: T[Name] extends object | undefined ? Loose<T[Name]> | null : unknown };

/** The first names the problem. */
function refusalsOf(body: Loose<CreatePaymentBody>): readonly Refusal[] {
  const { amount, currency, rail = 'auto', routing } = body;
  const sourceId = body.source?.payment_method_id;
  const tooLarge = tooLargeFields(amount);
  const isForeign = typeof currency === 'string' && currency.toUpperCase() !== CURRENCY;
  const isPinned = rail !== 'auto' && routing?.fallback === true;
  const isCircle = sourceId !== undefined && sourceId === body.destination?.payment_method_id;
  if (!(tooLarge.length > 0 || isForeign || isPinned || isCircle)) return NONE;
  return [
    ...tooLarge.map((field) => ({ problem: 'amount_too_large' as const, field })),
    ...(isForeign ? [currencyNotSupported] : NONE),
    ...(isPinned ? [fallbackNeedsAuto] : NONE),
    ...(isCircle ? [samePaymentMethod] : NONE),
  ];
}

const currencyNotSupported: Refusal = {
  problem: 'currency_not_supported',
  field: { pointer: '/currency', code: 'currency_not_supported', detail: 'The rails carry USD.' },
};
const fallbackNeedsAuto: Refusal = {
  problem: 'invalid_request',
  field: {
    pointer: '/routing/fallback',
    code: 'fallback_needs_auto',
    detail: 'A fallback is possible only with rail "auto".',
  },
};
const samePaymentMethod: Refusal = {
  problem: 'same_payment_method',
  field: {
    pointer: '/destination/payment_method_id',
    code: 'same_payment_method',
    detail: 'Money cannot go from a payment method to itself.',
  },
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
