import type { Queryable } from '@libs/db';
import { type AchEntry, paymentKeyOf } from '../entries/entry.ts';
import { modeOfScope } from '../entries/scope.ts';
import { type ChangeAnswer, readLoosely } from '../nacha/loose.ts';
import { type AchContext, fileSealContext } from '../work/context.ts';
import { findAppliedChanges, findSealedAnswer } from './answers-store.ts';
import { type ChangeMatch, changeKeyOf, entryKeyOf, isAnsweredBy, isChange, type Match } from './matching.ts';

/** Whether this very notification was applied to this entry before, in whatever file it came. */
export async function wasApplied(tx: Queryable, context: AchContext, match: Match): Promise<boolean> {
  if (!isChange(match)) return false;
  return (await appliedChanges(tx, context, [match])).has(changeKeyOf(match));
}

/**
 * The keys of what notifications of change told these entries before. What they said stands in their files alone,
 * which are sealed: no trace of an account number, such as a hash, lies beside them.
 */
export async function appliedChanges(
  tx: Queryable,
  context: AchContext,
  changes: readonly ChangeMatch[],
): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  const [first] = changes;
  if (!first) return keys;
  const entries = new Map(changes.map(({ entry }) => [entryKeyOf(entry), entry]));
  const applied = await findAppliedChanges(
    tx,
    changes.map(({ entry }) => paymentKeyOf(entry)),
  );
  // One file after the other, since any may be large.
  for (const [answerId, told] of Map.groupBy(applied, (change) => change.answerId)) {
    const said = await changesIn(tx, context, { answerId, scope: first.entry.scope });
    for (const change of told) {
      const entry = entries.get(entryKeyOf(change));
      const answers = (said.get(change.trace) ?? []).filter(({ code }) => code === change.code);
      if (entry) for (const answer of thoseApplied(answers, entry)) keys.add(changeKeyOf({ entry, answer }));
    }
  }
  return keys;
}

/**
 * Beside the one that was applied, others of its trace and code may have been put aside, which a person may apply later: they
 * do not fit the entry. Where none does, a person applied it nevertheless, or the entry has left anew since.
 */
function thoseApplied(answers: readonly ChangeAnswer[], entry: AchEntry): readonly ChangeAnswer[] {
  const fitting = answers.filter((answer) => isAnsweredBy(entry, answer));
  return fitting.length > 0 ? fitting : answers;
}

/** The notifications in a file, by the trace that they answer. */
async function changesIn(
  tx: Queryable,
  context: AchContext,
  { answerId, scope }: { answerId: string } & Pick<AchEntry, 'scope'>,
): Promise<ReadonlyMap<string, readonly ChangeAnswer[]>> {
  const sealed = await findSealedAnswer(tx, answerId);
  try {
    const read = readLoosely(sealed ? context.sealer.openText(sealed, fileSealContext(answerId)) : '');
    const answers = (read.ok ? read.entries : []).flatMap(({ answer }) =>
      answer?.kind === 'noc' ? answer : [],
    );
    return Map.groupBy(answers, ({ originalTrace }) => originalTrace);
  } catch (error) {
    // What nobody can read any more is no reason to believe nothing that banks say.
    if (!context.isLostForGood(error, modeOfScope(scope))) throw error;
    return new Map();
  }
}
