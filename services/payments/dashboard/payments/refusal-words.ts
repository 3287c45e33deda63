import type { ApiError } from '@libs/ui';
import { formatAmount } from '@libs/ui/amount';
import { AMOUNT_MAX } from '../../src/payments/payment.ts';
import type { Payment, RailCandidate } from '../api/types.ts';
import { texts } from '../texts.ts';

const words = texts.refusals;
const whys: Readonly<Record<string, string>> = words.why;
const steps: Readonly<Record<string, string>> = words.next;

/** Refusals whose own words have codes or minor units in them, as sentences with the next step; nothing for all others. */
export function wordsOfRefusal(
  { code, body }: Pick<ApiError, 'code' | 'body'>,
  { asked = 'auto', currency = 'USD' }: { asked?: Payment['rail']; currency?: string } = {},
): string | undefined {
  const { candidates, refundable_amount: left, available } = body;
  if (code === 'rail_not_available' && Array.isArray(candidates)) return wordsOfRails(candidates, asked);
  if (code === 'refund_exceeds_payment' && typeof left === 'number')
    return left === 0 ? words.refundNothingLeft : words.refundLeft(formatAmount(left, currency));
  if (code === 'insufficient_funds' && typeof available === 'number')
    return words.available(formatAmount(available, currency));
  if (code === 'amount_too_large') return words.atMost(formatAmount(AMOUNT_MAX, currency));
  return undefined;
}

function wordsOfRails(candidates: readonly RailCandidate[], asked: Payment['rail']): string {
  if (asked !== 'auto') {
    const refused = candidates.filter(({ rail }) => rail === asked);
    const reasons = refused.map(({ rail, reasons: codes }) => words.rail(texts.rails[rail], whyOf(codes)));
    return [...reasons, nextOf(candidates, refused)].join(' ');
  }
  // That a rail is for balances helps nobody whose money lies in a bank.
  const refused = candidates.filter(({ reasons }) => !reasons.includes('only_between_balances'));
  const reasons = refused.map(({ rail, reasons: codes }) => words.ofRail(texts.rails[rail], whyOf(codes)));
  return [words.noRail, ...reasons, nextOf(candidates, refused)].join(' ');
}

function whyOf(reasons: readonly string[]): string {
  return reasons.map((reason) => whys[reason] ?? reason.replaceAll('_', ' ')).join(words.and);
}

function nextOf(candidates: readonly RailCandidate[], refused: readonly RailCandidate[]): string {
  const possible = candidates.filter((candidate) => candidate.possible);
  if (possible.length > 0) return words.another(possible.map(({ rail }) => texts.rails[rail]).join(words.or));
  const known = refused.flatMap(({ reasons }) => reasons).map((reason) => steps[reason] ?? words.nextOfAll);
  const sentence = [...new Set(known)].join(words.or);
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}
