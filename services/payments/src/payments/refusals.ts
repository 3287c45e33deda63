import { errors } from '../errors.ts';
import type { RailId } from '../rails/rail-ids.ts';
import type { Candidate } from '../routing/decision.ts';
import { obstacleWords } from '../routing/obstacle-words.ts';
import type { Mode } from '../tenant.ts';

/** Why no rail carries a payment, as the caller is told: in words for people, in `candidates` for programs. */
export function routingRefusal(candidates: readonly Candidate[], only: RailId | null, mode: Mode) {
  const asked = candidates.filter((candidate) => only === null || candidate.rail === only);
  const external = asked.filter((candidate) => candidate.rail !== 'book');
  // Live without a bank behind it is the operator's affair, not a fault of the payment.
  const unconfigured = external.every((candidate) => candidate.reasons.includes('not_configured'));
  if (mode === 'live' && external.length > 0 && unconfigured) return errors.rail_not_configured();
  if (only === null)
    return errors.rail_not_available({ detail: wordsOfNone(candidates), extra: { candidates } });
  const whys = asked.map(whyOf).join(' ');
  const reason = { pointer: '/rail', code: 'rail_not_available', detail: asSentence(whys) };
  return errors.rail_not_available({
    detail: [`${nameOf(only)} cannot carry this payment: ${whys}.`, ...wordsOfOthers(candidates)].join(' '),
    errors: [reason],
    extra: { candidates },
  });
}

const railNames: Partial<Record<RailId, string>> = { rtp: 'RTP', ach: 'ACH' };

function nameOf(rail: RailId): string {
  return railNames[rail] ?? rail;
}

function whyOf({ reasons }: Candidate): string {
  return reasons.map((reason) => obstacleWords[reason]).join(', and ');
}

function asSentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

function wordsOfNone(candidates: readonly Candidate[]): string {
  // That a rail is for balances helps nobody whose money lies in a bank.
  const refused = candidates.filter(({ reasons }) => !reasons.includes('only_between_balances'));
  const whys = refused.map((candidate) => `${nameOf(candidate.rail)}: ${whyOf(candidate)}.`);
  return ['No rail can carry this payment.', ...whys].join(' ');
}

/** The way out where another rail than the one that was asked for is possible. */
function wordsOfOthers(candidates: readonly Candidate[]): string[] {
  const possible = candidates.filter((candidate) => candidate.possible).map(({ rail }) => nameOf(rail));
  return possible.length === 0 ? [] : [`With the rail "auto", ${possible.join(' or ')} can.`];
}
