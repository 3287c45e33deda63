import { readAgent, writeAgent } from '../../iso20022/agents.ts';
import { TEXT_FIELDS, toNetworkText } from '../../iso20022/characters.ts';
import { type ElementReader, matching, oneOf, textUpTo } from '../../iso20022/element-reader.ts';
import {
  ACCOUNT_NUMBER,
  formatCents,
  REFERENCE,
  requireDate,
  requireDateTime,
  requireMatch,
  UETR,
} from '../../iso20022/field-checks.ts';
import type { NetworkDate, NetworkDateTime } from '../../iso20022/network-time.ts';
import { MessageRefused } from '../../iso20022/refusal.ts';
import { escapeText } from '../../iso20022/xml.ts';
import { INSTRUCTION_ID, MESSAGE_ID } from '../identifiers.ts';
import { type BusinessHeader, writeEnvelope } from './envelope.ts';

/** What later messages repeat of a credit transfer in order to speak about it. */
export interface TransferReference {
  readonly messageId: string;
  readonly createdAt: NetworkDateTime;
  readonly instructionId: string;
  readonly transactionId: string;
  readonly amountCents: number;
  readonly settlementDate: NetworkDate;
  readonly instructingAgent: string;
  readonly instructedAgent: string;
}

export interface TransferParty {
  /** Any text; it is mapped to the network's characters when the message is written. */
  readonly name: string;
  readonly accountNumber: string;
  /** The ABA number of the bank that holds the account. */
  readonly routingNumber: string;
}

/** `pacs.008.001.08`: one customer credit transfer. */
export interface CreditTransfer extends TransferReference {
  readonly endToEndId: string;
  readonly uetr: string | null;
  readonly clearingReference: string | null;
  /** Which kind of customer pays. */
  readonly categoryPurpose: 'CONSUMER' | 'BUSINESS';
  readonly debtor: TransferParty;
  readonly creditor: TransferParty;
  /** Any text for the receiver, mapped as names are. */
  readonly remittance: string | null;
}

const SETTLEMENT =
  '<ct:SttlmInf><ct:SttlmMtd>CLRG</ct:SttlmMtd><ct:ClrSys><ct:Cd>TCH</ct:Cd></ct:ClrSys></ct:SttlmInf>';
const PAYMENT_TYPES = { CONSUMER: paymentType('CONSUMER'), BUSINESS: paymentType('BUSINESS') } as const;

function paymentType(categoryPurpose: string): string {
  return (
    '<ct:PmtTpInf><ct:SvcLvl><ct:Cd>SDVA</ct:Cd></ct:SvcLvl>' +
    '<ct:LclInstrm><ct:Prtry>STANDARD</ct:Prtry></ct:LclInstrm>' +
    `<ct:CtgyPurp><ct:Prtry>${categoryPurpose}</ct:Prtry></ct:CtgyPurp></ct:PmtTpInf>`
  );
}

export function buildCreditTransfer(header: BusinessHeader, transfer: CreditTransfer): string {
  requireMatch('messageId', transfer.messageId, MESSAGE_ID);
  requireDateTime('createdAt', transfer.createdAt);
  requireDate('settlementDate', transfer.settlementDate);
  const amount = formatCents('amountCents', transfer.amountCents);
  const document =
    `<ct:GrpHdr><ct:MsgId>${escapeText(transfer.messageId)}</ct:MsgId>` +
    `<ct:CreDtTm>${transfer.createdAt}</ct:CreDtTm><ct:NbOfTxs>1</ct:NbOfTxs>` +
    `<ct:TtlIntrBkSttlmAmt Ccy="USD">${amount}</ct:TtlIntrBkSttlmAmt>` +
    `<ct:IntrBkSttlmDt>${transfer.settlementDate}</ct:IntrBkSttlmDt>${SETTLEMENT}</ct:GrpHdr>` +
    `<ct:CdtTrfTxInf>${writeIdentification(transfer)}${PAYMENT_TYPES[transfer.categoryPurpose]}` +
    `<ct:IntrBkSttlmAmt Ccy="USD">${amount}</ct:IntrBkSttlmAmt><ct:ChrgBr>SLEV</ct:ChrgBr>` +
    writeAgent('ct:InstgAgt', transfer.instructingAgent) +
    writeAgent('ct:InstdAgt', transfer.instructedAgent) +
    writeParty('Dbtr', transfer.debtor) +
    writeAgent('ct:DbtrAgt', transfer.debtor.routingNumber) +
    writeAgent('ct:CdtrAgt', transfer.creditor.routingNumber) +
    writeParty('Cdtr', transfer.creditor) +
    `${writeRemittance(transfer.remittance)}</ct:CdtTrfTxInf>`;
  return writeEnvelope('pacs.008', header, document);
}

function writeIdentification(transfer: CreditTransfer): string {
  const { instructionId, endToEndId, transactionId, uetr, clearingReference } = transfer;
  requireMatch('instructionId', instructionId, INSTRUCTION_ID);
  requireMatch('endToEndId', endToEndId, REFERENCE);
  requireMatch('transactionId', transactionId, REFERENCE);
  if (uetr !== null) requireMatch('uetr', uetr, UETR);
  if (clearingReference !== null) requireMatch('clearingReference', clearingReference, REFERENCE);
  return (
    `<ct:PmtId><ct:InstrId>${escapeText(instructionId)}</ct:InstrId>` +
    `<ct:EndToEndId>${escapeText(endToEndId)}</ct:EndToEndId><ct:TxId>${escapeText(transactionId)}</ct:TxId>` +
    (uetr === null ? '' : `<ct:UETR>${uetr}</ct:UETR>`) +
    (clearingReference === null ? '' : `<ct:ClrSysRef>${escapeText(clearingReference)}</ct:ClrSysRef>`) +
    '</ct:PmtId>'
  );
}

/** As long as the party lives: whoever writes many transfers of one account names it by one object. */
const writtenParties = {
  Dbtr: new WeakMap<TransferParty, string>(),
  Cdtr: new WeakMap<TransferParty, string>(),
};

function writeParty(element: 'Dbtr' | 'Cdtr', party: TransferParty): string {
  const known = writtenParties[element].get(party);
  if (known !== undefined) return known;
  const written = writePartyAnew(element, party);
  writtenParties[element].set(party, written);
  return written;
}

function writePartyAnew(element: 'Dbtr' | 'Cdtr', party: TransferParty): string {
  requireMatch(`${element}.accountNumber`, party.accountNumber, ACCOUNT_NUMBER);
  const name = escapeText(toNetworkText(party.name, TEXT_FIELDS.partyName));
  return (
    `<ct:${element}><ct:Nm>${name}</ct:Nm></ct:${element}>` +
    `<ct:${element}Acct><ct:Id><ct:Othr><ct:Id>${escapeText(party.accountNumber)}</ct:Id></ct:Othr></ct:Id></ct:${element}Acct>`
  );
}

function writeRemittance(remittance: string | null): string {
  const text = remittance === null ? null : toNetworkText(remittance, TEXT_FIELDS.remittance);
  return text === null ? '' : `<ct:RmtInf><ct:Ustrd>${escapeText(text)}</ct:Ustrd></ct:RmtInf>`;
}

const readParties = new WeakMap<TransferParty, TransferParty>();

/** What a reader finds in the message of this transfer. */
export function transferAsRead(transfer: CreditTransfer): CreditTransfer {
  const { debtor, creditor, remittance } = transfer;
  return {
    ...transfer,
    debtor: partyAsRead(debtor),
    creditor: partyAsRead(creditor),
    remittance: remittance === null ? null : toNetworkText(remittance, TEXT_FIELDS.remittance),
  };
}

function partyAsRead(party: TransferParty): TransferParty {
  let read = readParties.get(party);
  if (read === undefined) {
    read = { ...party, name: toNetworkText(party.name, TEXT_FIELDS.partyName) };
    readParties.set(party, read);
  }
  return read;
}

export function readCreditTransferDocument(document: ElementReader): CreditTransfer {
  const group = document.group('GrpHdr', readGroupHeader);
  const { totalCents, ...groupFields } = group;
  const transaction = document.group('CdtTrfTxInf', readTransaction);
  if (transaction.amountCents !== totalCents) {
    throw new MessageRefused('invalid_value', 'the total differs from the amount of the one transaction');
  }
  return { ...groupFields, ...transaction };
}

function readGroupHeader(header: ElementReader) {
  const messageId = header.text('MsgId', matching(MESSAGE_ID));
  const createdAt = header.dateTime('CreDtTm');
  header.text('NbOfTxs', oneOf('1'));
  const totalCents = header.amount('TtlIntrBkSttlmAmt');
  const settlementDate = header.date('IntrBkSttlmDt');
  header.group('SttlmInf', (settlement) => {
    settlement.text('SttlmMtd', oneOf('CLRG'));
    settlement.group('ClrSys', (system) => system.text('Cd', oneOf('TCH')));
  });
  return { messageId, createdAt, totalCents, settlementDate };
}

function readTransaction(transaction: ElementReader) {
  const identification = transaction.group('PmtId', readIdentification);
  const categoryPurpose = transaction.group('PmtTpInf', readPaymentType);
  const amountCents = transaction.amount('IntrBkSttlmAmt');
  transaction.text('ChrgBr', oneOf('SLEV'));
  const instructingAgent = readAgent(transaction, 'InstgAgt');
  const instructedAgent = readAgent(transaction, 'InstdAgt');
  transaction.skip('UltmtDbtr');
  transaction.skip('InitgPty');
  const debtor = readParty(transaction, 'Dbtr');
  const debtorBank = readAgent(transaction, 'DbtrAgt');
  const creditorBank = readAgent(transaction, 'CdtrAgt');
  const creditor = readParty(transaction, 'Cdtr');
  transaction.skip('UltmtCdtr');
  transaction.skip('InstrForCdtrAgt', 5);
  transaction.skip('RltdRmtInf');
  const remittance = transaction.optionalGroup('RmtInf', (information) => {
    const text = information.optionalText('Ustrd', textUpTo(140));
    information.skip('Strd');
    return text;
  });
  return {
    ...identification,
    categoryPurpose,
    amountCents,
    instructingAgent,
    instructedAgent,
    debtor: { ...debtor, routingNumber: debtorBank },
    creditor: { ...creditor, routingNumber: creditorBank },
    remittance,
  };
}

function readIdentification(identification: ElementReader) {
  const instructionId = identification.text('InstrId', matching(INSTRUCTION_ID));
  const endToEndId = identification.text('EndToEndId', textUpTo(35));
  const transactionId = identification.text('TxId', textUpTo(35));
  const uetr = identification.optionalText('UETR', matching(UETR));
  const clearingReference = identification.optionalText('ClrSysRef', textUpTo(35));
  return { instructionId, endToEndId, transactionId, uetr, clearingReference };
}

function readPaymentType(type: ElementReader): CreditTransfer['categoryPurpose'] {
  type.group('SvcLvl', (level) => level.text('Cd', oneOf('SDVA')));
  type.group('LclInstrm', (instrument) => instrument.text('Prtry', oneOf('STANDARD')));
  const purpose = type.group('CtgyPurp', (category) => category.text('Prtry', oneOf('CONSUMER', 'BUSINESS')));
  return purpose === 'CONSUMER' ? 'CONSUMER' : 'BUSINESS';
}

function readParty(transaction: ElementReader, element: 'Dbtr' | 'Cdtr') {
  const name = transaction.group(element, (party) => {
    const text = party.text('Nm', textUpTo(140));
    party.skip('PstlAdr');
    party.skip('Id');
    return text;
  });
  const accountNumber = transaction.group(`${element}Acct`, (account) => {
    const number = account.group('Id', (id) => id.group('Othr', (other) => other.text('Id', textUpTo(34))));
    account.skip('Nm');
    account.skip('Prxy');
    return number;
  });
  return { name, accountNumber };
}
