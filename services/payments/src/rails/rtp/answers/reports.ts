import type { Mode } from '../../../tenant.ts';
import { parseTenantId } from '../../../tenant.ts';
import type { RtpConnections, RtpIdentity } from '../lines/connection.ts';
import type { BusinessHeader } from '../messages/envelope.ts';
import { readStatusReport } from '../messages/read.ts';
import { isReportOn, type StatusReport } from '../messages/status-report.ts';
import type { AcceptedTransfer } from '../submissions/ordinary-store.ts';
import type { StoredSubmission } from '../submissions/store.ts';
import { outcomeOf } from '../submissions/submission.ts';

/** A message as it was received, on the connection of this mode. */
export interface Received {
  mode: Mode;
  xml: string;
}

export interface ReceivedReport extends Received {
  header: BusinessHeader | null;
  report: StatusReport;
}

export interface Unreadable extends Received {
  reason: string;
}

/** Sorts received messages into reports and what is none. */
export function readReports(received: readonly Received[]): {
  reports: ReceivedReport[];
  unreadable: Unreadable[];
} {
  const reports: ReceivedReport[] = [];
  const unreadable: Unreadable[] = [];
  for (const one of received) {
    const reading = readStatusReport(one.xml);
    if (reading.ok) reports.push({ ...one, header: reading.header, report: reading.message });
    else unreadable.push({ ...one, reason: `${reading.refusal.reason}: ${reading.refusal.detail}` });
  }
  return { reports, unreadable };
}

/** Why a report that can be read must not be believed, or null. */
export function faultOf(
  { mode, header, report }: ReceivedReport,
  stored: StoredSubmission | undefined,
  identity: RtpIdentity | undefined,
): string | null {
  if (header === null) return 'foreign: the header is blank';
  if (!identity || header.to !== identity.participant)
    return 'foreign: it is addressed to another participant';
  if (!stored) return 'unmatched: we have sent no such instruction';
  if (parseTenantId(stored.tenantId).mode !== mode)
    return 'foreign: it came from another network than the transfer went to';
  if (stored.submission === null) return 'unmatched: the instruction was not handed over yet';
  const { instructionId, messageId, amountCents } = stored;
  const matches = isReportOn(report, { instructionId, transactionId: instructionId, messageId, amountCents });
  return matches ? null : 'mismatched: it reports on another message or amount';
}

/** Those that accept a transfer and leave nothing to weigh: whole, ours, and the only one of their transfer here. */
export function plainAcceptances(
  connections: RtpConnections,
  reports: readonly ReceivedReport[],
): AcceptedTransfer[] {
  const perTransfer = Map.groupBy(reports, ({ report }) => report.original.instructionId);
  return [...perTransfer.values()].flatMap(([first, ...more]) => {
    const received = more.length === 0 ? first : undefined;
    const identity = received && connections[received.mode]?.identity;
    // A header that names nobody is not for us, least of all where we are nobody.
    if (!identity || received.header?.to !== identity.participant) return [];
    const { report, mode } = received;
    const { instructionId, messageId, amountCents } = report.original;
    if (amountCents === null || outcomeOf(report).kind !== 'accepted') return [];
    const transfer = { instructionId, transactionId: instructionId, messageId, amountCents };
    return isReportOn(report, transfer) ? [{ instructionId, messageId, amountCents, mode }] : [];
  });
}
