import assert from 'node:assert/strict';
import type { Queryable } from '@libs/db';
import { enqueueJobs } from '@libs/jobs';
import type { Payment } from '../../payments/payment.ts';
import { rejectedByOrder, returnedByOrder, settledByOrder } from '../forced.ts';
import type { CodeMeaning, ForcedMeaning, ForcedOrder, ForcedOutcome, RailOutcome } from '../rail.ts';
import { changeMeaning, entryRefusalMeaning, returnMeaning } from './codes/meanings.ts';
import { findEntriesOf, insertEntries, updateEntries } from './entries/entries-store.ts';
import { type AchEntry, AttemptEntries, isOut } from './entries/entry.ts';
import { legsOf } from './entries/payments.ts';
import { refundsFor } from './entries/refunds.ts';
import { notifyOfChange, originalOf } from './incoming/notify.ts';
import { readAnswer } from './incoming/reading.ts';
import { lockScope } from './outgoing/files-store.ts';
import { handOverToOperator } from './outgoing/sending.ts';
import type { AchContext } from './work/context.ts';
import { wakeUp } from './work/jobs.ts';
import { answerTimeOf, timeOf } from './work/time.ts';

const CHANGE_DEFAULT = 'C01';

export function meaningOnAch(outcome: ForcedOutcome, code: string | null): ForcedMeaning {
  if (outcome === 'settle') return { ok: true, meaning: null };
  if (outcome === 'return' && code === null) return { ok: false, reason: 'code_required' };
  const meaning = {
    reject: () => entryRefusalMeaning(code),
    return: () => returnMeaning(code ?? ''),
    notify_of_change: () => changeMeaning(code ?? CHANGE_DEFAULT),
  }[outcome]();
  return meaning ? { ok: true, meaning } : { ok: false, reason: 'code_unknown' };
}

/** The rail's own work locks its scope before payments. */
export async function lockForForcing(tx: Queryable, payment: Payment): Promise<void> {
  const scopes = new Set((await findEntriesOf(tx, [payment])).map(({ scope }) => scope));
  for (const scope of [...scopes].sort()) await lockScope(tx, scope);
}

/**
 * What the sandbox's operator is told to do with a payment. What it says of an entry that it has is a file like any
 * other, so that its books and ours agree; of one that has not left yet only the payment is told.
 */
export async function forceOnAch(
  context: AchContext,
  tx: Queryable,
  payment: Payment,
  { outcome, meaning, at }: ForcedOrder,
): Promise<readonly RailOutcome[]> {
  if (outcome === 'settle') return settledByOrder(payment, at);
  assert(meaning, `${outcome} has a code`);
  if (outcome === 'notify_of_change') {
    await notifyOfChange(context, tx, payment, meaning.networkCode);
    return [];
  }
  const attemptId = payment.attempts.at(-1)?.id;
  const entries = (await findEntriesOf(tx, [payment])).filter((entry) => entry.attemptId === attemptId);
  const attempt = new AttemptEntries(entries);
  if (outcome === 'reject') return reject(context, tx, { payment, attempt, entries, meaning });
  const entry = entryToReturn(payment, attempt);
  const isTold = await sendBack(context, tx, { entry, meaning });
  // One that was completed by order hears nothing of what was still under way; what a bank has told is not told twice.
  if (isTold && payment.status !== 'completed') return [];
  // What came back after it settled and was not read yet tells of itself: it may be owed, and nothing is owed twice.
  if (!isTold && entry?.state === 'settled') return [];
  // Whom an order has paid keeps the money, as if the entries had settled.
  const isOwed = payment.status === 'completed' && legsOf(payment) === 'debit_then_credit';
  return returnedByOrder(payment, meaning, { isOwed });
}

/** What is under way comes back; of what is paid, the money that was taken first. */
function entryToReturn({ status }: Payment, attempt: AttemptEntries): AchEntry | undefined {
  const debit = attempt.get('debit');
  const credit = attempt.get('credit');
  if (status === 'processing' && credit?.state === 'sent') return credit;
  const first = debit ?? credit;
  return first && isOut(first) ? first : undefined;
}

interface Rejecting {
  payment: Payment;
  attempt: AttemptEntries;
  entries: readonly AchEntry[];
  meaning: CodeMeaning;
}

/** The payment fails; what was collected for it goes back to where it came from. */
async function reject(
  context: AchContext,
  tx: Queryable,
  { payment, attempt, entries, meaning }: Rejecting,
): Promise<readonly RailOutcome[]> {
  await context.applyOutcomes(tx, rejectedByOrder(payment, meaning));
  const credit = attempt.get('credit');
  const underWay = credit?.state === 'sent' ? credit : attempt.get('debit');
  if (underWay?.state === 'sent') await sendBack(context, tx, { entry: underWay, meaning });
  if (credit?.state !== 'queued' || attempt.get('debit')?.state !== 'settled') return [];
  const canceled: AchEntry = { ...credit, state: 'canceled' };
  await updateEntries(tx, [canceled]);
  const siblings = entries.map((entry) => (entry === credit ? canceled : entry));
  const { scope } = credit;
  const { now: from } = await timeOf(context, tx, scope);
  await insertEntries(tx, refundsFor(siblings, { scope, from, pace: context.pace }));
  await enqueueJobs(tx, context.database.schema, [wakeUp(scope)]);
  return [];
}

/** Whether the operator had the entry to send it back. */
async function sendBack(
  context: AchContext,
  tx: Queryable,
  { entry, meaning }: { entry: AchEntry | undefined; meaning: CodeMeaning },
): Promise<boolean> {
  if (!entry?.sentAs || !context.operator) return false;
  await handOverToOperator(context, tx, entry.sentAs.fileId);
  const original = await originalOf(tx, context, entry.sentAs);
  // By the time of its files, in which what follows from it leaves, too.
  const asOf = await answerTimeOf(context, tx, entry);
  const order = { original, code: meaning.networkCode, asOf, sequence: context.now() };
  const file = await context.operator.returnEntry(tx, entry.scope, order);
  if (!file) return false;
  const reading = await readAnswer(tx, context, { scope: entry.scope, file, asOf });
  assert(reading.status === 'read' && reading.aside.length === 0, 'what the operator sends back fits');
  const wake = wakeUp(entry.scope);
  await enqueueJobs(tx, context.database.schema, [wake]);
  return true;
}
