import { readAgent, writeAgent } from '../../iso20022/agents.ts';
import { type ElementReader, matching, textUpTo } from '../../iso20022/element-reader.ts';
import {
  formatCents,
  REFERENCE,
  requireDate,
  requireDateTime,
  requireMatch,
} from '../../iso20022/field-checks.ts';
import type { NetworkDateTime } from '../../iso20022/network-time.ts';
import { readOriginalGroup, writeOriginalGroup } from '../../iso20022/original-group.ts';
import { MessageRefused } from '../../iso20022/refusal.ts';
import { escapeText } from '../../iso20022/xml.ts';
import { MESSAGE_ID } from '../identifiers.ts';
import type { TransferReference } from './credit-transfer.ts';
import { type BusinessHeader, DEFINITIONS, writeEnvelope } from './envelope.ts';

/** `pacs.028.001.03`: asks what became of a credit transfer that nothing was heard of. */
export interface StatusRequest {
  readonly messageId: string;
  readonly createdAt: NetworkDateTime;
  /** When the paying bank accepted the payment for sending. */
  readonly acceptedAt: NetworkDateTime;
  readonly transfer: TransferReference;
}

export function buildStatusRequest(header: BusinessHeader, request: StatusRequest): string {
  const { transfer } = request;
  requireMatch('messageId', request.messageId, MESSAGE_ID);
  requireDateTime('createdAt', request.createdAt);
  requireDateTime('acceptedAt', request.acceptedAt);
  requireMatch('transfer.instructionId', transfer.instructionId, REFERENCE);
  requireMatch('transfer.transactionId', transfer.transactionId, REFERENCE);
  requireDate('transfer.settlementDate', transfer.settlementDate);
  const original = { ...transfer, messageName: DEFINITIONS['pacs.008'].id };
  const document =
    `<s8:GrpHdr><s8:MsgId>${escapeText(request.messageId)}</s8:MsgId>` +
    `<s8:CreDtTm>${request.createdAt}</s8:CreDtTm></s8:GrpHdr>` +
    `${writeOriginalGroup('s8:OrgnlGrpInf', original)}<s8:TxInf>` +
    `<s8:OrgnlInstrId>${escapeText(transfer.instructionId)}</s8:OrgnlInstrId>` +
    `<s8:OrgnlTxId>${escapeText(transfer.transactionId)}</s8:OrgnlTxId>` +
    `<s8:AccptncDtTm>${request.acceptedAt}</s8:AccptncDtTm>` +
    writeAgent('s8:InstgAgt', transfer.instructingAgent) +
    writeAgent('s8:InstdAgt', transfer.instructedAgent) +
    '<s8:OrgnlTxRef>' +
    `<s8:IntrBkSttlmAmt Ccy="USD">${formatCents('transfer.amountCents', transfer.amountCents)}</s8:IntrBkSttlmAmt>` +
    `<s8:IntrBkSttlmDt>${transfer.settlementDate}</s8:IntrBkSttlmDt></s8:OrgnlTxRef></s8:TxInf>`;
  return writeEnvelope('pacs.028', header, document);
}

export function readStatusRequestDocument(document: ElementReader): StatusRequest {
  const group = document.group('GrpHdr', (header) => ({
    messageId: header.text('MsgId', matching(MESSAGE_ID)),
    createdAt: header.dateTime('CreDtTm'),
  }));
  const original = document.group('OrgnlGrpInf', readOriginalGroup);
  if (original.messageName !== DEFINITIONS['pacs.008'].id) {
    throw new MessageRefused('invalid_value', 'the request is about a message other than a credit transfer');
  }
  const { acceptedAt, ...transaction } = document.group('TxInf', readTransaction);
  const transfer = { messageId: original.messageId, createdAt: original.createdAt, ...transaction };
  return { ...group, acceptedAt, transfer };
}

function readTransaction(transaction: ElementReader) {
  const instructionId = transaction.text('OrgnlInstrId', textUpTo(35));
  const transactionId = transaction.text('OrgnlTxId', textUpTo(35));
  const acceptedAt = transaction.dateTime('AccptncDtTm');
  const instructingAgent = readAgent(transaction, 'InstgAgt');
  const instructedAgent = readAgent(transaction, 'InstdAgt');
  const amount = transaction.group('OrgnlTxRef', (reference) => ({
    amountCents: reference.amount('IntrBkSttlmAmt'),
    settlementDate: reference.date('IntrBkSttlmDt'),
  }));
  return { instructionId, transactionId, acceptedAt, instructingAgent, instructedAgent, ...amount };
}
