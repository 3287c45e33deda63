import assert from 'node:assert/strict';
import type { Queryable } from '@libs/db';
import type { Payment } from '../../../payments/payment.ts';
import { isChangeCode } from '../codes/codes.ts';
import { findEntriesOf } from '../entries/entries-store.ts';
import type { AchEntry, SentAs } from '../entries/entry.ts';
import { excerptText } from '../nacha/excerpt.ts';
import { type BankAnswer, readLoosely } from '../nacha/loose.ts';
import type { BatchHeader, Entry } from '../nacha/model.ts';
import { readNacha } from '../nacha/read.ts';
import { findFiles } from '../outgoing/files-store.ts';
import { type AchContext, fileSealContext } from '../work/context.ts';
import { answerTimeOf } from '../work/time.ts';
import { readAnswer } from './reading.ts';
import { wasApplied } from './repeats.ts';

/**
 * A notification of change on demand. It is a file like any other that the operator sends, and is read the same way.
 * A payment of which no entry ever left has nobody who could notify of anything, and nothing happens; nor does it where
 * the bank has said the same before, or is about to: said twice, it would be put aside.
 */
export async function notifyOfChange(
  context: AchContext,
  tx: Queryable,
  payment: Payment,
  code: string,
): Promise<void> {
  assert(isChangeCode(code), 'the code was looked up before');
  const entry = latestSent(await findEntriesOf(tx, [payment]));
  if (!entry?.sentAs || !context.operator) return;
  const original = await originalOf(tx, context, entry.sentAs);
  const asOf = await answerTimeOf(context, tx, entry);
  const order = { original, code, asOf, sequence: context.now() };
  const file = await context.operator.notifyOfChange(tx, entry.scope, order);
  const [said] = answersIn(file?.content ?? '');
  if (!file || (said && (await wasApplied(tx, context, { entry, answer: said })))) return;
  const reading = await readAnswer(tx, context, { scope: entry.scope, file, asOf });
  if (reading.status !== 'read' || reading.aside.length > 0)
    throw new Error(`a notification of change was ${reading.status}`);
}

function answersIn(content: string): BankAnswer[] {
  const read = readLoosely(content);
  return read.ok ? read.entries.flatMap(({ answer }) => answer ?? []) : [];
}

/** The destination's where it was credited, else the source's. */
function latestSent(entries: readonly AchEntry[]): AchEntry | undefined {
  return entries.findLast((entry) => entry.sentAs !== null && entry.leg !== 'refund');
}

/** The entry as the bank got it. */
export async function originalOf(
  tx: Queryable,
  context: AchContext,
  { fileId, trace }: SentAs,
): Promise<{ header: BatchHeader; entry: Entry }> {
  const [file] = await findFiles(tx, [fileId]);
  const text = file && context.sealer.openText(file.contentSealed, fileSealContext(fileId));
  const excerpt = text && excerptText(text, new Set([trace]));
  const read = excerpt ? readNacha(excerpt) : undefined;
  const batch = read?.ok ? read.file.batches[0] : undefined;
  const entry = batch?.entries[0];
  if (!batch || !entry) throw new Error(`file ${fileId} does not hold trace ${trace}`);
  return { header: batch.header, entry };
}
