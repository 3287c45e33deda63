import { MessageRefused, type Refusal } from '../../iso20022/refusal.ts';
import { type CreditTransfer, readCreditTransferDocument } from './credit-transfer.ts';
import { type BusinessHeader, type DocumentReaders, readEnvelope } from './envelope.ts';
import { justWrittenReports, justWrittenTransfers } from './just-written.ts';
import { readStatusReportDocument, type StatusReport } from './status-report.ts';
import { readStatusRequestDocument, type StatusRequest } from './status-request.ts';

/** A received message, or why it is none. `header` is null where the sender left it blank. */
export type MessageReading<T> =
  | { readonly ok: true; readonly header: BusinessHeader | null; readonly message: T }
  | { readonly ok: false; readonly refusal: Refusal };

export type AnyMessage =
  | { readonly kind: 'pacs.008'; readonly transfer: CreditTransfer }
  | { readonly kind: 'pacs.002'; readonly report: StatusReport }
  | { readonly kind: 'pacs.028'; readonly request: StatusRequest };

/** For a receiver that takes several kinds, as the network does. */
export function readMessage(xml: string): MessageReading<AnyMessage> {
  const known = justWrittenTransfers.take(xml);
  if (known)
    return { ok: true, header: known.header, message: { kind: 'pacs.008', transfer: known.message } };
  return read<AnyMessage>(xml, {
    'pacs.008': (document) => ({ kind: 'pacs.008', transfer: readCreditTransferDocument(document) }),
    'pacs.002': (document) => ({ kind: 'pacs.002', report: readStatusReportDocument(document) }),
    'pacs.028': (document) => ({ kind: 'pacs.028', request: readStatusRequestDocument(document) }),
  });
}

export function readCreditTransfer(xml: string): MessageReading<CreditTransfer> {
  return read(xml, { 'pacs.008': readCreditTransferDocument });
}

export function readStatusReport(xml: string): MessageReading<StatusReport> {
  const known = justWrittenReports.take(xml);
  return known
    ? { ok: true, header: known.header, message: known.message }
    : read(xml, { 'pacs.002': readStatusReportDocument });
}

export function readStatusRequest(xml: string): MessageReading<StatusRequest> {
  return read(xml, { 'pacs.028': readStatusRequestDocument });
}

function read<T>(xml: string, readers: DocumentReaders<T>): MessageReading<T> {
  try {
    return { ok: true, ...readEnvelope(xml, readers) };
  } catch (error) {
    if (error instanceof MessageRefused) return { ok: false, refusal: error.refusal };
    throw error;
  }
}
