import { hash } from 'node:crypto';
import type { Queryable } from '@libs/db';
import { enqueueJobs } from '@libs/jobs';
import type { Payment } from '../../../payments/payment.ts';
import type { AsideApplied } from '../../rail.ts';
import { isBetweenBanks } from '../codes/codes.ts';
import { findEntriesOf } from '../entries/entries-store.ts';
import { type AchEntry, directionOf, isOut } from '../entries/entry.ts';
import { type BankAnswer, type ReturnAnswer, readLoosely } from '../nacha/loose.ts';
import { type AchContext, fileSealContext } from '../work/context.ts';
import { wakeUp } from '../work/jobs.ts';
import { answerTimeOf } from '../work/time.ts';
import { findAnswer, insertAnswer } from './answers-store.ts';
import { lacksAmount, type Match } from './matching.ts';
import { applyAnswers } from './reading.ts';
import { wasApplied } from './repeats.ts';

/** Applies an entry that was put aside to the payment that a person says it belongs to. */
export async function applyAside(
  context: AchContext,
  tx: Queryable,
  payment: Payment,
  content: string,
): Promise<AsideApplied> {
  const read = readLoosely(content);
  const [only, ...others] = read.ok ? read.entries : [];
  if (!only || others.length > 0) return { ok: false, reason: 'It is not one entry.' };
  if (!only.answer) return { ok: false, reason: only.fault };
  if (isBetweenBanks(only.answer.code))
    return { ok: false, reason: `${only.answer.code} answers nothing that we sent.` };
  const entries = await findEntriesOf(tx, [payment]);
  const entry = entryFor(only.answer, entries);
  if (!entry)
    return {
      ok: false,
      reason: lacksAmount(only.answer)
        ? 'It has no amount, and the payment has no entry with its trace that could come back.'
        : 'The payment has no entry of this direction and amount that could come back.',
    };
  const { scope } = entry;
  const contentHash = hash('sha256', content, 'buffer');
  const match: Match = { entry, answer: only.answer };
  if ((await findAnswer(tx, scope, contentHash)) || (await wasApplied(tx, context, match)))
    return { ok: false, reason: 'It was applied before.' };
  const asOf = await answerTimeOf(context, tx, entry);
  const id = context.newId('ach');
  const contentSealed = context.sealer.seal(content, fileSealContext(id));
  const createdAt = context.now();
  await insertAnswer(tx, { id, scope, name: `applied ${id}`, contentHash, contentSealed, asOf, createdAt });
  await applyAnswers(tx, context, { scope, asOf, answerId: id, matches: [match] });
  // A refund or another presentment may follow, which nobody else would look for.
  await enqueueJobs(tx, context.database.schema, [wakeUp(scope)]);
  return { ok: true };
}

/** The one with its trace; where the payment has none with it, the latest that it could mean. What has no amount means the first alone. */
function entryFor(answer: BankAnswer, entries: readonly AchEntry[]): AchEntry | undefined {
  const isNamed = ({ sentAs }: AchEntry) => sentAs?.trace === answer.originalTrace;
  // A second return of an entry that came back before means that one, and not the presentment that followed it.
  const isMeant = entries.some(isNamed) || lacksAmount(answer) ? isNamed : () => true;
  return entries
    .filter(isMeant)
    .findLast(
      (entry) =>
        entry.sentAs !== null &&
        (answer.direction === null || directionOf(entry.leg) === answer.direction) &&
        (answer.kind === 'noc' || (isOfAmount(entry, answer) && isOut(entry))),
    );
}

function isOfAmount({ amount }: AchEntry, { amountCents }: ReturnAnswer): boolean {
  return amountCents === null || amountCents === amount;
}
