import { enqueueJobs } from '@libs/jobs';
import type { RailOutcome } from '../../rail.ts';
import { findEntriesOf, findInFile, insertEntries, updateEntries } from '../entries/entries-store.ts';
import { type AchEntry, paymentKeyOf } from '../entries/entry.ts';
import { refundsFor } from '../entries/refunds.ts';
import { timesOf } from '../schedule/schedule.ts';
import type { AchContext } from '../work/context.ts';
import { wakeUp } from '../work/jobs.ts';
import { timeOf } from '../work/time.ts';
import { findFiles, lockScope, markSent } from './files-store.ts';
import { legsOf, lockPaymentsOf, paymentOf } from './filing.ts';

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
 * back of it meanwhile stays as it is.
 */
export function rejectFile(
  context: AchContext,
  fileId: string,
  { reason, resend }: FileRejection,
): Promise<RejectResult> {
  const { database } = context;
  return database.transaction(async (tx): Promise<RejectResult> => {
    const [unlocked] = await findFiles(tx, [fileId]);
    if (!unlocked) return { ok: false, reason: 'not_found' };
    const { scope } = unlocked;
    await lockScope(tx, scope);
    const [file] = await findFiles(tx, [fileId]);
    if (!file?.isSent) return { ok: false, reason: 'not_sent' };
    if (file.isRefused) return { ok: false, reason: 'rejected_before' };
    const entries = await findInFile(tx, fileId);
    if (entries.some(({ state }) => state === 'settled')) return { ok: false, reason: 'settled' };
    const open = entries.filter(({ state }) => state === 'sent');
    const payments = await lockPaymentsOf(tx, context, open);
    const { now } = await timeOf(context, tx, scope);
    await markSent(tx, fileId, { at: context.now(), refusal: reason });
    const traces = open.flatMap(({ sentAs }) => sentAs?.trace ?? []);
    await context.operator?.rejectFile(tx, scope, { name: file.name, traces, reason });
    if (resend) {
      const again = open.map((entry): AchEntry => {
        const legs = legsOf(paymentOf(payments, entry));
        const times = timesOf({ ...entry, from: now, legs }, context.pace);
        return { ...entry, ...times, state: 'queued', sentAs: null };
      });
      await updateEntries(tx, again);
    } else {
      const refused = open.map((entry): AchEntry => ({ ...entry, state: 'refused' }));
      await updateEntries(tx, refused);
      const siblings = await findEntriesOf(tx, open.map(paymentKeyOf));
      await insertEntries(tx, refundsFor(siblings, { scope, from: now, pace: context.pace }));
      await context.applyOutcomes(tx, refused.flatMap(refusedOutcome));
    }
    await enqueueJobs(tx, database.schema, [wakeUp(scope)]);
    return { ok: true };
  });
}

/** What is told of a payment whose file the bank did not take. */
export function refusedOutcome({ tenantId, paymentId, attemptId, leg }: AchEntry): RailOutcome[] {
  if (leg === 'refund') return [];
  const detail = 'The bank refused the file that this payment was in.';
  const said = { networkCode: null, code: 'file_refused', detail, mayWorkElsewhere: false };
  return [{ tenantId, paymentId, attemptId, kind: 'rejected', ...said }];
}
