import type { Queryable } from '@libs/db';
import { enqueueJobs } from '@libs/jobs';
import type { Payment } from '../../../payments/payment.ts';
import type { RailOutcome } from '../../rail.ts';
import { keepSendings } from '../entries/earlier-store.ts';
import { findEntriesOf, findInFile, insertEntries, updateEntries } from '../entries/entries-store.ts';
import { type AchEntry, paymentKeyOf } from '../entries/entry.ts';
import { lockPaymentsOf, type PaymentsByKey, paymentOf } from '../entries/payments.ts';
import { attemptsById, refundsFor } from '../entries/refunds.ts';
import type { AchScope } from '../entries/scope.ts';
import { debitReturned } from '../incoming/returned.ts';
import type { AchContext } from '../work/context.ts';
import { wakeUp } from '../work/jobs.ts';
import { timeOf } from '../work/time.ts';
import { findFiles, lockScope, markRejected } from './files-store.ts';
import { postpone } from './postponing.ts';

export interface FileRejection {
  reason: string;
  /** Whether its entries leave again in the next file, or fail. */
  resend: boolean;
}

export type RejectResult =
  | { ok: true }
  | { ok: false; reason: 'not_found' | 'not_sent' | 'rejected_before' | 'settled' };

/**
 * A bank says, after it had taken a file, that it takes nothing of it: none of its payments settles by it. What came
 * back of it meanwhile stays as it is. Works in the caller's transaction.
 */
export async function rejectFile(
  context: AchContext,
  tx: Queryable,
  fileId: string,
  { reason, resend }: FileRejection,
): Promise<RejectResult> {
  const [unlocked] = await findFiles(tx, [fileId]);
  if (!unlocked) return { ok: false, reason: 'not_found' };
  const { scope } = unlocked;
  await lockScope(tx, scope);
  const [file] = await findFiles(tx, [fileId]);
  if (!file?.isSent) return { ok: false, reason: 'not_sent' };
  if (file.isRefused) return { ok: false, reason: 'rejected_before' };
  const inFile = await findInFile(tx, fileId);
  if (inFile.some(({ state }) => state === 'settled' || state === 'overruled'))
    return { ok: false, reason: 'settled' };
  const open = inFile.filter(isOpen);
  const payments = await lockPaymentsOf(tx, context, open);
  const { now } = await timeOf(context, tx, scope);
  // A clock may show less than the hour at which the file left.
  const from = file.asOf.getTime() > now.getTime() ? file.asOf : now;
  await markRejected(tx, fileId, reason);
  const traces = open.flatMap(({ sentAs }) => sentAs?.trace ?? []);
  await context.operator?.rejectFile(tx, scope, { name: file.name, traces, reason });
  const again = resend ? await withoutLost(tx, open) : [];
  await keepSendings(tx, again, file.asOf);
  await postpone(tx, context, { entries: again, payments, from });
  const leaving = new Set(again);
  const entries = open.filter((entry) => !leaving.has(entry));
  await refuseEntries(context, tx, { scope, entries, payments, from });
  await enqueueJobs(tx, context.database.schema, [wakeUp(scope)]);
  return { ok: true };
}

/** Those whose money is still here: a debit that came back meanwhile left nothing to hand on. */
async function withoutLost(tx: Queryable, entries: readonly AchEntry[]): Promise<AchEntry[]> {
  const attempts = attemptsById(await findEntriesOf(tx, entries.map(paymentKeyOf)));
  return entries.filter(({ attemptId }) => !attempts.get(attemptId)?.lostDebit);
}

export interface RefusedEntries {
  scope: AchScope;
  entries: readonly AchEntry[];
  /** Those that the entries belong to. */
  payments: PaymentsByKey;
  from: Date;
}

/**
 * The bank took none of them: their payments fail, and what was collected for them goes back. The caller has locked the
 * scope and the payments. What came back meanwhile stays as it is.
 */
export async function refuseEntries(
  context: AchContext,
  tx: Queryable,
  { scope, entries, payments, from }: RefusedEntries,
): Promise<void> {
  const refused = entries.filter(isOpen).map((entry): AchEntry => ({ ...entry, state: 'refused' }));
  await updateEntries(tx, refused);
  const siblings = await findEntriesOf(tx, refused.map(paymentKeyOf));
  await insertEntries(tx, refundsFor(siblings, { scope, from, pace: context.pace }));
  const attempts = attemptsById(siblings);
  await context.applyOutcomes(
    tx,
    refused.flatMap((entry) =>
      refusedOutcome(entry, paymentOf(payments, entry), attempts.get(entry.attemptId)?.lostDebit),
    ),
  );
}

function isOpen({ state }: AchEntry): boolean {
  return state === 'sent';
}

/** What is told of a payment whose file the bank did not take. `lost` is its debit, where that came back meanwhile. */
function refusedOutcome(
  { tenantId, paymentId, attemptId, leg }: AchEntry,
  { status }: Payment,
  lost: AchEntry | undefined,
): RailOutcome[] {
  const key = { tenantId, paymentId, attemptId };
  // What was owed, because it was paid out while the source took it back, was never paid.
  if (leg === 'refund') return lost ? [{ ...key, kind: 'repaid', by: 'source' }] : [];
  if (leg === 'credit' && lost)
    return status === 'returned'
      ? [{ ...key, kind: 'repaid', by: 'destination' }]
      : [debitReturned(lost, { isPaid: false })];
  const detail = 'The bank refused the file that this payment was in.';
  const said = { networkCode: null, code: 'file_refused', detail, mayWorkElsewhere: false };
  return [{ ...key, kind: 'rejected', ...said }];
}
