import { isBetweenBanks } from '../codes/codes.ts';
import { type AchEntry, directionOf, isOut } from '../entries/entry.ts';
import type { BankAnswer, LooseEntry } from '../nacha/loose.ts';

export interface Match {
  entry: AchEntry;
  answer: BankAnswer;
}

/** What cannot be applied: the text of the one entry, and why. */
export interface PutAside {
  text: string;
  reason: string;
}

export interface Matched {
  matches: Match[];
  aside: PutAside[];
}

/**
 * Each answer needs the one entry that it can answer: by trace, bank, direction and amount, and not yet returned.
 * `found` has the latest first, so a number that came again means the latest.
 */
export function matchAnswers(entries: readonly LooseEntry[], found: readonly AchEntry[]): Matched {
  const byTrace = Map.groupBy(found, (entry) => entry.sentAs?.trace ?? '');
  const returned = new Set<AchEntry>();
  const matches: Match[] = [];
  const aside: PutAside[] = [];
  for (const { text, answer, fault } of entries) {
    const matched = answer ? matchOf(answer, byTrace.get(answer.originalTrace) ?? [], returned) : fault;
    if (typeof matched === 'string') aside.push({ text, reason: matched });
    else matches.push(matched);
  }
  return { matches, aside };
}

/** The match, or in words why there is none. */
function matchOf(
  answer: BankAnswer,
  candidates: readonly AchEntry[],
  returned: Set<AchEntry>,
): Match | string {
  const told = `A ${answer.kind} answers trace ${answer.originalTrace}`;
  if (candidates.length === 0) return `${told}: we have sent no such entry.`;
  if (isBetweenBanks(answer.code)) return `${told}: ${answer.code} answers nothing that we sent.`;
  const entry = candidates.find((candidate) => isAnsweredBy(candidate, answer));
  if (!entry) return `${told}: bank, direction or amount are not those of the entry.`;
  if (answer.kind === 'return') {
    if (returned.has(entry)) return `${told}: the entry is returned.`;
    if (!isOut(entry)) return `${told}: the entry is ${entry.state}.`;
    returned.add(entry);
  }
  return { entry, answer };
}

function isAnsweredBy(entry: AchEntry, answer: BankAnswer): boolean {
  return (
    (answer.originalRdfi === '' || entry.sentAs?.rdfi === answer.originalRdfi) &&
    (answer.direction === null || directionOf(entry.leg) === answer.direction) &&
    (answer.kind === 'noc' || entry.amount === answer.amountCents)
  );
}
