import type { PaymentMethod } from '../../../payment-methods/method.ts';
import { networkDateTime } from '../../iso20022/network-time.ts';
import type { RailSubmission } from '../../rail.ts';
import { businessMessageId, instructionId, messageId } from '../identifiers.ts';
import type { RtpIdentity } from '../lines/connection.ts';
import {
  buildCreditTransfer,
  type CreditTransfer,
  type TransferParty,
  type TransferReference,
} from '../messages/credit-transfer.ts';
import type { BusinessHeader } from '../messages/envelope.ts';
import { buildStatusRequest } from '../messages/status-request.ts';

/** Which of the sponsor's systems counts our serial numbers. */
const SYSTEM = 'PAY1';

export interface WrittenTransfer {
  header: BusinessHeader;
  transfer: CreditTransfer;
  xml: string;
}

export type OpenAccountNumber = (method: PaymentMethod) => string;

/** The `pacs.008` of a payment, in the organisation's time. */
export function writeTransfer(
  { payment, source, destination, at }: RailSubmission,
  context: { identity: RtpIdentity; serial: number; partyOf: PartyOf },
): WrittenTransfer {
  const { identity, serial, partyOf } = context;
  const createdAt = networkDateTime(at);
  const date = createdAt.slice(0, 10);
  const instruction = instructionId({ date, participant: identity.participant, system: SYSTEM, serial });
  const debtor = partyOf(source);
  const creditor = partyOf(destination);
  const transfer: CreditTransfer = {
    messageId: messageId({ date, participant: identity.participant, source: 'B', serial }),
    createdAt,
    instructionId: instruction,
    transactionId: instruction,
    amountCents: payment.amount,
    settlementDate: date,
    instructingAgent: identity.routingNumber,
    instructedAgent: creditor.routingNumber,
    endToEndId: payment.id,
    uetr: null,
    clearingReference: null,
    categoryPurpose: source.bank?.holderType === 'individual' ? 'CONSUMER' : 'BUSINESS',
    debtor,
    creditor,
    remittance: payment.description,
  };
  const header = headerOf(identity, { createdAt, serial });
  return { header, transfer, xml: buildCreditTransfer(header, transfer) };
}

/** The `pacs.028` that asks what became of a transfer. */
export function writeStatusRequest(
  transfer: TransferReference,
  context: { identity: RtpIdentity; serial: number; at: Date },
): string {
  const { identity, serial } = context;
  const createdAt = networkDateTime(context.at);
  return buildStatusRequest(headerOf(identity, { createdAt, serial }), {
    messageId: messageId({
      date: createdAt.slice(0, 10),
      participant: identity.participant,
      source: 'B',
      serial,
    }),
    createdAt,
    acceptedAt: transfer.createdAt,
    transfer,
  });
}

function headerOf(
  identity: RtpIdentity,
  { createdAt, serial }: { createdAt: string; serial: number },
): BusinessHeader {
  const date = createdAt.slice(0, 10);
  return {
    from: identity.participant,
    to: identity.network,
    businessMessageId: businessMessageId({ date, participant: identity.participant, source: 'B', serial }),
    createdAt,
    copy: null,
  };
}

export type PartyOf = (method: PaymentMethod) => TransferParty;

/** Each method's once: payments of one batch often share an account, and opening an envelope costs more than writing a message. */
export function partiesOf(identity: RtpIdentity, openAccountNumber: OpenAccountNumber): PartyOf {
  const known = new Map<PaymentMethod, TransferParty>();
  return (method) => {
    const party = known.get(method) ?? partyOf(method, { identity, openAccountNumber });
    known.set(method, party);
    return party;
  };
}

/** Money held here lies in the sponsor's account; every other account is the method's own. */
function partyOf(
  method: PaymentMethod,
  { identity, openAccountNumber }: { identity: RtpIdentity; openAccountNumber: OpenAccountNumber },
): TransferParty {
  if (method.bank === null) {
    return {
      name: identity.accountName,
      accountNumber: identity.accountNumber,
      routingNumber: identity.routingNumber,
    };
  }
  return {
    name: method.bank.holderName,
    accountNumber: openAccountNumber(method),
    routingNumber: method.bank.routingNumber,
  };
}
