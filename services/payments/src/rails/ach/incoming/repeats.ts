import type { Queryable } from '@libs/db';
import { type AchEntry, paymentKeyOf } from '../entries/entry.ts';
import { modeOfScope } from '../entries/scope.ts';
import { type ChangeAnswer, readLoosely } from '../nacha/loose.ts';
import { type AchContext, fileSealContext } from '../work/context.ts';
import { findAppliedChanges, findSealedAnswer } from './answers-store.ts';
import { type ChangeMatch, changeKeyOf, isChange, type Match } from './matching.ts';

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
  const applied = await findAppliedChanges(
    tx,
    changes.map(({ entry }) => paymentKeyOf(entry)),
  );
  // One file after the other, since any may be large.
  for (const [answerId, told] of Map.groupBy(applied, (change) => change.answerId)) {
    const said = await changesIn(tx, context, { answerId, scope: first.entry.scope });
    for (const { trace, code, ...entry } of told)
      for (const answer of said.get(trace) ?? [])
        if (answer.code === code) keys.add(changeKeyOf({ entry, answer }));
  }
  return keys;
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
