import { readAgent, writeAgent } from '../../iso20022/agents.ts';
import { TEXT_FIELDS, toNetworkText } from '../../iso20022/characters.ts';
import { type ElementReader, matching, oneOf, textUpTo } from '../../iso20022/element-reader.ts';
import {
  formatCents,
  REASON_CODE,
  REFERENCE,
  requireDate,
  requireDateTime,
  requireMatch,
  UETR,
} from '../../iso20022/field-checks.ts';
import type { NetworkDate, NetworkDateTime } from '../../iso20022/network-time.ts';
import { readOriginalGroup, writeOriginalGroup } from '../../iso20022/original-group.ts';
import { escapeText } from '../../iso20022/xml.ts';
import { MESSAGE_ID } from '../identifiers.ts';
import type { TransferReference } from './credit-transfer.ts';
import { type BusinessHeader, DEFINITIONS, writeEnvelope } from './envelope.ts';

export const TRANSACTION_STATUSES = ['ACTC', 'ACWP', 'RCVD', 'RJCT'] as const;

/** Accepted, accepted without posting yet, received with nothing decided, rejected. */
export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number];

export interface StatusReason {
  readonly code: string | null;
  readonly text: string | null;
}

/** `pacs.002.001.10`: what became of one message. */
export interface StatusReport {
  readonly messageId: string;
  readonly createdAt: NetworkDateTime;
  readonly original: {
    readonly messageId: string;
    readonly messageName: string;
    readonly createdAt: NetworkDateTime;
    readonly instructionId: string;
    readonly transactionId: string | null;
    readonly uetr: string | null;
    readonly amountCents: number | null;
    readonly settlementDate: NetworkDate | null;
  };
  readonly status: TransactionStatus;
  readonly reason: StatusReason | null;
  readonly acceptedAt: NetworkDateTime;
  readonly clearingReference: string | null;
  /** The banks as parties of this message: the instructing one is that which reports. */
  readonly instructingAgent: string;
  readonly instructedAgent: string;
}

export interface Answer {
  readonly messageId: string;
  readonly createdAt: NetworkDateTime;
  readonly status: TransactionStatus;
  readonly reason: StatusReason | null;
  readonly acceptedAt: NetworkDateTime;
  readonly clearingReference: string | null;
}

/** The report on a transfer, whether the transfer itself or a request for its status is at hand. */
export function reportOn(
  transfer: TransferReference & { uetr?: string | null },
  answer: Answer,
): StatusReport {
  return {
    ...answer,
    original: {
      messageId: transfer.messageId,
      messageName: DEFINITIONS['pacs.008'].id,
      createdAt: transfer.createdAt,
      instructionId: transfer.instructionId,
      transactionId: transfer.transactionId,
      uetr: transfer.uetr ?? null,
      amountCents: transfer.amountCents,
      settlementDate: transfer.settlementDate,
    },
    instructingAgent: transfer.instructedAgent,
    instructedAgent: transfer.instructingAgent,
  };
}

/**
 * Whether a report speaks of this very transfer. Matching the instruction alone would let a report that
 * was garbled on its way, or is about another amount, settle a payment.
 */
export function isReportOn(
  report: StatusReport,
  transfer: Pick<TransferReference, 'messageId' | 'instructionId' | 'transactionId' | 'amountCents'>,
): boolean {
  const { original } = report;
  return (
    original.messageName === DEFINITIONS['pacs.008'].id &&
    original.instructionId === transfer.instructionId &&
    original.messageId === transfer.messageId &&
    (original.transactionId === null || original.transactionId === transfer.transactionId) &&
    (original.amountCents === null || original.amountCents === transfer.amountCents)
  );
}

export function buildStatusReport(header: BusinessHeader, report: StatusReport): string {
  requireMatch('messageId', report.messageId, MESSAGE_ID);
  requireDateTime('createdAt', report.createdAt);
  requireDateTime('acceptedAt', report.acceptedAt);
  const reference = report.clearingReference;
  if (reference !== null) requireMatch('clearingReference', reference, REFERENCE);
  const document =
    `<ps:GrpHdr><ps:MsgId>${escapeText(report.messageId)}</ps:MsgId>` +
    `<ps:CreDtTm>${report.createdAt}</ps:CreDtTm></ps:GrpHdr>` +
    `${writeOriginalGroup('ps:OrgnlGrpInfAndSts', report.original)}<ps:TxInfAndSts>` +
    `${writeOriginalIds(report.original)}<ps:TxSts>${report.status}</ps:TxSts>${writeReason(report.reason)}` +
    `<ps:AccptncDtTm>${report.acceptedAt}</ps:AccptncDtTm>` +
    (reference === null ? '' : `<ps:ClrSysRef>${escapeText(reference)}</ps:ClrSysRef>`) +
    writeAgent('ps:InstgAgt', report.instructingAgent) +
    writeAgent('ps:InstdAgt', report.instructedAgent) +
    `${writeOriginalAmount(report.original)}</ps:TxInfAndSts>`;
  return writeEnvelope('pacs.002', header, document);
}

function writeOriginalIds(original: StatusReport['original']): string {
  const { instructionId, transactionId, uetr } = original;
  requireMatch('original.instructionId', instructionId, REFERENCE);
  if (transactionId !== null) requireMatch('original.transactionId', transactionId, REFERENCE);
  if (uetr !== null) requireMatch('original.uetr', uetr, UETR);
  return (
    `<ps:OrgnlInstrId>${escapeText(instructionId)}</ps:OrgnlInstrId>` +
    (transactionId === null ? '' : `<ps:OrgnlTxId>${escapeText(transactionId)}</ps:OrgnlTxId>`) +
    (uetr === null ? '' : `<ps:OrgnlUETR>${uetr}</ps:OrgnlUETR>`)
  );
}

function writeReason(reason: StatusReason | null): string {
  if (reason === null) return '';
  const text = reason.text === null ? null : toNetworkText(reason.text, TEXT_FIELDS.statusText);
  return (
    '<ps:StsRsnInf>' +
    (reason.code === null ? '' : writeReasonCode(reason.code)) +
    (text === null ? '' : `<ps:AddtlInf>${escapeText(text)}</ps:AddtlInf>`) +
    '</ps:StsRsnInf>'
  );
}

/** ISO's codes begin with letters; the network's own are numbers, and one word. */
function writeReasonCode(code: string): string {
  requireMatch('reason.code', code, REASON_CODE);
  const element = /^\d+$/.test(code) || code === 'NOAT' ? 'Prtry' : 'Cd';
  return `<ps:Rsn><ps:${element}>${code}</ps:${element}></ps:Rsn>`;
}

function writeOriginalAmount({ amountCents, settlementDate }: StatusReport['original']): string {
  if (amountCents === null && settlementDate === null) return '';
  if (settlementDate !== null) requireDate('original.settlementDate', settlementDate);
  return (
    '<ps:OrgnlTxRef>' +
    (amountCents === null
      ? ''
      : `<ps:IntrBkSttlmAmt Ccy="USD">${formatCents('original.amountCents', amountCents)}</ps:IntrBkSttlmAmt>`) +
    (settlementDate === null ? '' : `<ps:IntrBkSttlmDt>${settlementDate}</ps:IntrBkSttlmDt>`) +
    '</ps:OrgnlTxRef>'
  );
}

export function readStatusReportDocument(document: ElementReader): StatusReport {
  const group = document.group('GrpHdr', (header) => ({
    messageId: header.text('MsgId', matching(MESSAGE_ID)),
    createdAt: header.dateTime('CreDtTm'),
  }));
  const originalGroup = document.group('OrgnlGrpInfAndSts', readOriginalGroup);
  const { originalTransaction, ...fields } = document.group('TxInfAndSts', readTransactionStatus);
  return { ...group, original: { ...originalGroup, ...originalTransaction }, ...fields };
}

function readTransactionStatus(transaction: ElementReader) {
  const instructionId = transaction.text('OrgnlInstrId', textUpTo(35));
  const transactionId = transaction.optionalText('OrgnlTxId', textUpTo(35));
  const uetr = transaction.optionalText('OrgnlUETR', matching(UETR));
  const status = transaction.text('TxSts', oneOf(...TRANSACTION_STATUSES)) as TransactionStatus;
  const reason = transaction.optionalGroup('StsRsnInf', readReason);
  const acceptedAt = transaction.dateTime('AccptncDtTm');
  const clearingReference = transaction.optionalText('ClrSysRef', textUpTo(35));
  const instructingAgent = readAgent(transaction, 'InstgAgt');
  const instructedAgent = readAgent(transaction, 'InstdAgt');
  const amount = transaction.optionalGroup('OrgnlTxRef', (reference) => ({
    amountCents: reference.isNext('IntrBkSttlmAmt') ? reference.amount('IntrBkSttlmAmt') : null,
    settlementDate: reference.isNext('IntrBkSttlmDt') ? reference.date('IntrBkSttlmDt') : null,
  }));
  return {
    originalTransaction: {
      instructionId,
      transactionId,
      uetr,
      amountCents: amount?.amountCents ?? null,
      settlementDate: amount?.settlementDate ?? null,
    },
    status,
    reason,
    acceptedAt,
    clearingReference,
    instructingAgent,
    instructedAgent,
  };
}

/** Any code of the right form is read: the lists behind the schema grow without a new schema. */
function readReason(information: ElementReader): StatusReason {
  const code = information.optionalGroup('Rsn', (choice) =>
    choice.text(choice.isNext('Prtry') ? 'Prtry' : 'Cd', matching(REASON_CODE)),
  );
  return { code, text: information.optionalText('AddtlInf', textUpTo(105)) };
}
