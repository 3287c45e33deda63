import type { Queryable } from '@libs/db';
import type { Payment } from '../../../payments/payment.ts';
import type { AsideApplied } from '../../rail.ts';
import { lockByReference, type StoredSubmission } from '../submissions/store.ts';
import type { RtpWorkerDependencies } from '../work/context.ts';
import { takeReportOn } from './read.ts';
import { readReports } from './reports.ts';

/** The instructions of a payment, locked before the payment as in all work of this rail. */
export async function lockInstructionsOf(tx: Queryable, payment: Payment): Promise<StoredSubmission[]> {
  const references = payment.attempts
    .filter(({ rail }) => rail === 'rtp')
    .flatMap((attempt) => attempt.network_reference ?? []);
  return references.length === 0 ? [] : lockByReference(tx, references);
}

/**
 * Applies a report that was put aside to the payment that a person says it is about. To whom it was addressed and what
 * it calls the message is then no question; another amount, or another outcome than the network gave before, still is.
 */
export async function applyReport(
  deps: RtpWorkerDependencies,
  tx: Queryable,
  payment: Payment,
  content: string,
): Promise<AsideApplied> {
  const { reports, unreadable } = readReports([{ mode: payment.mode, xml: content }]);
  const [received] = reports;
  if (!received) return { ok: false, reason: `It is no report: ${unreadable[0]?.reason}` };
  const { instructionId, amountCents } = received.report.original;
  const stored = await lockInstructionsOf(tx, payment);
  const instruction = stored.find((one) => one.instructionId === instructionId) ?? stored.at(-1);
  if (!instruction?.submission)
    return { ok: false, reason: 'Nothing of the payment has left over this rail.' };
  if (amountCents !== null && amountCents !== instruction.amountCents)
    return { ok: false, reason: 'It reports on another amount.' };
  const fault = await takeReportOn(deps, tx, received, instruction);
  return fault === null ? { ok: true } : { ok: false, reason: fault };
}
