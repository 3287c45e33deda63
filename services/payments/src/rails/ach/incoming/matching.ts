import { isBetweenBanks } from '../codes/codes.ts';
import { type AchEntry, directionOf, isOut } from '../entries/entry.ts';
import type { BankAnswer, ChangeAnswer, LooseEntry } from '../nacha/loose.ts';

export interface Match {
  entry: AchEntry;
  answer: BankAnswer;
}

export type ChangeMatch = Match & { answer: ChangeAnswer };

export function isChange(match: Match): match is ChangeMatch {
  return match.answer.kind === 'noc';
}

type EntryKey = Pick<AchEntry, 'tenantId' | 'paymentId' | 'attemptId' | 'leg'>;

export function entryKeyOf({ tenantId, paymentId, attemptId, leg }: EntryKey): string {
  return JSON.stringify([tenantId, paymentId, attemptId, leg]);
}

/** The same for two notifications that tell the same entry the same. */
export function changeKeyOf({
  entry,
  answer: { code, correction },
}: {
  entry: EntryKey;
  answer: Pick<ChangeAnswer, 'code' | 'correction'>;
}): string {
  const parts = Object.entries(correction).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([entryKeyOf(entry), code, parts]);
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
 * Each answer needs the one entry that it can answer: by trace, bank, direction and amount, and not told the same before.
 * `found` has the latest first, so a number that came again means the latest. `changed` has the keys of the changes that
 * were applied.
 */
export function matchAnswers(
  entries: readonly LooseEntry[],
  found: readonly AchEntry[],
  changed: ReadonlySet<string>,
): Matched {
  const byTrace = Map.groupBy(found, (entry) => entry.sentAs?.trace ?? '');
  const told: Told = { returned: new Set(), changed: new Set(changed) };
  const matches: Match[] = [];
  const aside: PutAside[] = [];
  for (const { text, answer, fault } of entries) {
    const matched = answer ? matchOf(answer, byTrace.get(answer.originalTrace) ?? [], told) : fault;
    if (typeof matched === 'string') aside.push({ text, reason: matched });
    else matches.push(matched);
  }
  return { matches, aside };
}

/** What entries were told, by this file and before. */
interface Told {
  returned: Set<AchEntry>;
  changed: Set<string>;
}

/** The match, or in words why there is none. */
function matchOf(answer: BankAnswer, candidates: readonly AchEntry[], told: Told): Match | string {
  const what = `A ${answer.kind} answers trace ${answer.originalTrace}`;
  if (candidates.length === 0) return `${what}: we have sent no such entry.`;
  if (isBetweenBanks(answer.code)) return `${what}: ${answer.code} answers nothing that we sent.`;
  // A trace alone is little to believe: it is for a person to say whose it is.
  if (lacksAmount(answer))
    return `${what}: the line of its entry, or the amount there, is missing or spoiled.`;
  const entry = candidates.find((candidate) => isAnsweredBy(candidate, answer));
  if (!entry) return `${what}: bank, direction or amount are not those of the entry.`;
  const match: Match = { entry, answer };
  const repeated = isChange(match) ? repeatedChange(match, told) : repeatedReturn(entry, told);
  return repeated === undefined ? match : `${what}: ${repeated}`;
}

export function lacksAmount(answer: BankAnswer): boolean {
  return answer.kind === 'return' && answer.amountCents === null;
}

function repeatedReturn(entry: AchEntry, { returned }: Told): string | undefined {
  if (returned.has(entry)) return 'the entry is returned.';
  if (!isOut(entry)) return `the entry is ${entry.state}.`;
  returned.add(entry);
  return undefined;
}

/** Its account may have been corrected since, which the same notification would undo. */
function repeatedChange(change: ChangeMatch, { changed }: Told): string | undefined {
  const key = changeKeyOf(change);
  if (changed.has(key)) return 'the same change was applied before.';
  changed.add(key);
  return undefined;
}

export function isAnsweredBy(entry: AchEntry, answer: BankAnswer): boolean {
  return (
    (answer.originalRdfi === '' || entry.sentAs?.rdfi === answer.originalRdfi) &&
    (answer.direction === null || directionOf(entry.leg) === answer.direction) &&
    (answer.kind === 'noc' || entry.amount === answer.amountCents)
  );
}

/** Whom the notifications of a file may tell something. */
export function changesMeant(entries: readonly LooseEntry[], found: readonly AchEntry[]): ChangeMatch[] {
  const byTrace = Map.groupBy(found, (entry) => entry.sentAs?.trace ?? '');
  return entries.flatMap(({ answer }) => {
    if (answer?.kind !== 'noc') return [];
    return (byTrace.get(answer.originalTrace) ?? []).map((entry) => ({ entry, answer }));
  });
}
