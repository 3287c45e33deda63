import { hash } from 'node:crypto';
import type { Queryable } from '@libs/db';
import type { Payment } from '../../../payments/payment.ts';
import type { AsideApplied } from '../../rail.ts';
import { findEntriesOf } from '../entries/entries-store.ts';
import { type AchEntry, directionOf } from '../entries/entry.ts';
import { type BankAnswer, readLoosely } from '../nacha/loose.ts';
import { type AchContext, fileSealContext } from '../work/context.ts';
import { timeOf } from '../work/time.ts';
import { findAnswer, insertAnswer } from './answers-store.ts';
import { applyAnswers } from './reading.ts';

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
  const entries = await findEntriesOf(tx, [payment]);
  const entry = entryFor(only.answer, entries);
  if (!entry)
    return {
      ok: false,
      reason: 'The payment has no entry of this direction and amount that could come back.',
    };
  const { scope } = entry;
  const contentHash = hash('sha256', content, 'buffer');
  if (await findAnswer(tx, scope, contentHash)) return { ok: false, reason: 'It was applied before.' };
  const { now: asOf } = await timeOf(context, tx, scope);
  const id = context.newId('ach');
  const contentSealed = context.sealer.seal(content, fileSealContext(id));
  const createdAt = context.now();
  await insertAnswer(tx, { id, scope, name: `applied ${id}`, contentHash, contentSealed, asOf, createdAt });
  await applyAnswers(tx, context, { scope, asOf, answerId: id, matches: [{ entry, answer: only.answer }] });
  return { ok: true };
}

/** The one with its trace where there is one, else the latest that it could mean. */
function entryFor(answer: BankAnswer, entries: readonly AchEntry[]): AchEntry | undefined {
  const possible = entries.filter(
    ({ leg, amount, state, sentAs }) =>
      sentAs !== null &&
      (answer.direction === null || directionOf(leg) === answer.direction) &&
      (answer.kind === 'noc' || (amount === answer.amountCents && (state === 'sent' || state === 'settled'))),
  );
  return possible.find(({ sentAs }) => sentAs?.trace === answer.originalTrace) ?? possible.at(-1);
}
