import { errors } from '../errors.ts';
import type { RailId } from '../rails/rail-ids.ts';
import type { Candidate } from '../routing/decision.ts';
import type { Mode } from '../tenant.ts';

/** Why no rail carries a payment, as the caller is told. */
export function routingRefusal(candidates: readonly Candidate[], only: RailId | null, mode: Mode) {
  const asked = candidates.filter((candidate) => only === null || candidate.rail === only);
  const external = asked.filter((candidate) => candidate.rail !== 'book');
  // Live without a bank behind it is the operator's affair, not a fault of the payment.
  const unconfigured = external.every((candidate) => candidate.reasons.includes('not_configured'));
  if (mode === 'live' && external.length > 0 && unconfigured) return errors.rail_not_configured();
  const detail = asked.map(({ rail, reasons }) => `${rail}: ${reasons.join(', ')}`).join('; ');
  return errors.rail_not_available({
    detail: `No rail can carry this payment (${detail}).`,
    errors: only === null ? [] : [{ pointer: '/rail', code: 'rail_not_available', detail }],
    extra: { candidates },
  });
}
