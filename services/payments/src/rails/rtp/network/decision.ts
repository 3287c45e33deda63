import type { Behaviour } from '../../../payment-methods/test-accounts.ts';
import { isRoutingNumber } from '../../routing-number.ts';
import type { CreditTransfer } from '../messages/credit-transfer.ts';
import type { BusinessHeader } from '../messages/envelope.ts';
import type { AnyMessage } from '../messages/read.ts';
import type { BookedTransfer } from './store.ts';

/** The network's own limit, in cents. */
const AMOUNT_MAX = 10_000_000_00;

/** Why the network does not even take a message in: it is not from, or not to, whom it says. */
export function refusalOf(
  header: BusinessHeader | null,
  message: AnyMessage,
  network: string,
): string | null {
  if (header === null) return 'the header is blank';
  if (header.to !== network) return 'the message is addressed to another network';
  if (senders(message).some((sender) => sender !== header.from)) {
    return 'an identifier in the message belongs to another participant';
  }
  return null;
}

/** The participants that the identifiers in a message name. */
function senders(message: AnyMessage): string[] {
  switch (message.kind) {
    case 'pacs.008':
      return [senderIn(message.transfer.messageId), senderOf(message.transfer.instructionId)];
    case 'pacs.028':
      return [senderIn(message.request.messageId), senderOf(message.request.transfer.instructionId)];
    case 'pacs.002':
      return [senderIn(message.report.messageId)];
  }
}

/** `M`, the date, then the participant: see the identifiers of the network. */
function senderIn(messageId: string): string {
  return messageId.slice(9, 20);
}

/** The date, then the participant. */
export function senderOf(instructionId: string): string {
  return instructionId.slice(8, 19);
}

type Decision = Pick<BookedTransfer, 'status' | 'code' | 'silent'>;

/** What happens to a transfer: the rules of the network first, then the receiver's account, by its number alone. */
export function decide(
  transfer: CreditTransfer,
  behaviourOf: (accountNumber: string) => Behaviour,
): Decision {
  const rule = brokenRule(transfer);
  if (rule !== null) return rejected(rule);
  const { kind, code } = behaviourOf(transfer.creditor.accountNumber);
  if (kind === 'rtp_reject') return rejected(code ?? 'NARR');
  if (kind === 'rtp_timeout') return { status: 'ACTC', code: null, silent: true };
  if (kind === 'rtp_timeout_reject') return { ...rejected(code ?? 'NARR'), silent: true };
  return { status: 'ACTC', code: null, silent: false };
}

function rejected(code: string): Decision {
  return { status: 'RJCT', code: code.toUpperCase(), silent: false };
}

function brokenRule(transfer: CreditTransfer): string | null {
  if (transfer.amountCents > AMOUNT_MAX) return 'AM13';
  if (transfer.settlementDate > transfer.createdAt.slice(0, 10)) return 'DT04';
  if (!isRoutingNumber(transfer.creditor.routingNumber)) return 'RC04';
  if (!isRoutingNumber(transfer.debtor.routingNumber)) return 'RC03';
  return null;
}

/** Recognises accounts without keeping their numbers. */
export interface AccountMarks {
  of(accounts: string): string;
  isOf(mark: string, accounts: string): boolean;
}

function accountsOf({ debtor, creditor }: CreditTransfer): string {
  return `${debtor.accountNumber} ${creditor.accountNumber}`;
}

export function toBooked(transfer: CreditTransfer, decision: Decision, marks: AccountMarks): BookedTransfer {
  return {
    instructionId: transfer.instructionId,
    messageId: transfer.messageId,
    transactionId: transfer.transactionId,
    endToEndId: transfer.endToEndId,
    messageCreatedAt: transfer.createdAt,
    settlementDate: transfer.settlementDate,
    amountCents: transfer.amountCents,
    instructingAgent: transfer.instructingAgent,
    instructedAgent: transfer.instructedAgent,
    debtorAgent: transfer.debtor.routingNumber,
    creditorAgent: transfer.creditor.routingNumber,
    accountsMark: marks.of(accountsOf(transfer)),
    ...decision,
  };
}

/** Whether a message that names a known instruction is that very transfer again, and no other under its name. */
export function isSameTransfer(
  booked: BookedTransfer,
  transfer: CreditTransfer,
  marks: AccountMarks,
): boolean {
  return (
    booked.messageId === transfer.messageId &&
    booked.transactionId === transfer.transactionId &&
    booked.amountCents === transfer.amountCents &&
    booked.creditorAgent === transfer.creditor.routingNumber &&
    marks.isOf(booked.accountsMark, accountsOf(transfer))
  );
}
