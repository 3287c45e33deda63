import { MessageFieldError } from '../../iso20022/errors.ts';
import { buildCreditTransfer, type CreditTransfer } from './credit-transfer.ts';
import type { BusinessHeader, OpenedEnvelope } from './envelope.ts';
import { buildStatusReport, type StatusReport, TRANSACTION_STATUSES } from './status-report.ts';

/*
 * Nearly all messages that we read come in the very layout in which our builders write them: the sandbox uses the same
 * ones. Those need no parser, which takes five times as long: the fields are cut out, the message is written again from
 * them, and where that gives the same text, they are what a reader would have found, checked by the builder as strictly.
 * Everything else, optional elements included, is read the long way.
 */

/** Cuts texts out one after the other; what is cut need not be right, only complete when the message is. */
class Cutter {
  readonly #xml: string;
  #at = 0;
  isComplete = true;

  constructor(xml: string) {
    this.#xml = xml;
  }

  /** The text after the next of these opening tags. */
  text(tag: string): string {
    const opening = `<${tag}>`;
    const found = this.#xml.indexOf(opening, this.#at);
    const start = found + opening.length;
    const end = this.#xml.indexOf('<', start);
    if (found === -1 || end === -1) {
      this.isComplete = false;
      return '';
    }
    this.#at = end;
    return this.#xml.slice(start, end);
  }

  optionalText(tag: string): string | null {
    return this.#xml.includes(`<${tag}>`, this.#at) ? this.text(tag) : null;
  }

  amount(tag: string): number {
    const text = this.text(`${tag} Ccy="USD"`);
    return text.length <= AMOUNT_CHARACTERS_MAX ? Number(text.replace('.', '')) : Number.NaN;
  }
}

/** Fourteen digits, the point and the cents: readers take no more, builders would write more. */
const AMOUNT_CHARACTERS_MAX = 17;

/** References and the ends of sections mean something to a parser that they do not mean here. */
function isPlain(xml: string, start: string): boolean {
  return xml.includes(start) && !xml.includes('&') && !xml.includes(']]>');
}

export function readTransferAsWritten(xml: string): OpenedEnvelope<CreditTransfer> | null {
  if (!isPlain(xml, '</AppHdr><CreditTransfer>')) return null;
  const cut = new Cutter(xml);
  const header = cutHeader(cut);
  const messageId = cut.text('ct:MsgId');
  const createdAt = cut.text('ct:CreDtTm');
  const amountCents = cut.amount('ct:TtlIntrBkSttlmAmt');
  const settlementDate = cut.text('ct:IntrBkSttlmDt');
  const instructionId = cut.text('ct:InstrId');
  const endToEndId = cut.text('ct:EndToEndId');
  const transactionId = cut.text('ct:TxId');
  const categoryPurpose = cut.text('ct:CtgyPurp><ct:Prtry') === 'CONSUMER' ? 'CONSUMER' : 'BUSINESS';
  const instructingAgent = cut.text('ct:MmbId');
  const instructedAgent = cut.text('ct:MmbId');
  const debtor = { name: cut.text('ct:Nm'), accountNumber: cut.text('ct:Othr><ct:Id') };
  const debtorBank = cut.text('ct:MmbId');
  const creditorBank = cut.text('ct:MmbId');
  const creditor = { name: cut.text('ct:Nm'), accountNumber: cut.text('ct:Othr><ct:Id') };
  const message: CreditTransfer = {
    ...{ messageId, createdAt, amountCents, settlementDate, instructionId, endToEndId, transactionId },
    ...{ categoryPurpose, instructingAgent, instructedAgent, uetr: null, clearingReference: null },
    debtor: { ...debtor, routingNumber: debtorBank },
    creditor: { ...creditor, routingNumber: creditorBank },
    remittance: cut.optionalText('ct:Ustrd'),
  };
  const isSame = cut.isComplete && isWrittenAs(xml, () => buildCreditTransfer(header, message));
  return isSame ? { header, message } : null;
}

export function readReportAsWritten(xml: string): OpenedEnvelope<StatusReport> | null {
  if (!isPlain(xml, '</AppHdr><MessageStatusReport>')) return null;
  const cut = new Cutter(xml);
  const header = cutHeader(cut);
  const messageId = cut.text('ps:MsgId');
  const createdAt = cut.text('ps:CreDtTm');
  const original = {
    messageId: cut.text('ps:OrgnlMsgId'),
    messageName: cut.text('ps:OrgnlMsgNmId'),
    createdAt: cut.text('ps:OrgnlCreDtTm'),
    instructionId: cut.text('ps:OrgnlInstrId'),
    transactionId: cut.text('ps:OrgnlTxId'),
    uetr: null,
  };
  const cutStatus = cut.text('ps:TxSts');
  const status = TRANSACTION_STATUSES.find((one) => one === cutStatus);
  if (status === undefined) return null;
  const acceptedAt = cut.text('ps:AccptncDtTm');
  const instructingAgent = cut.text('ps:MmbId');
  const instructedAgent = cut.text('ps:MmbId');
  const amountCents = cut.amount('ps:IntrBkSttlmAmt');
  const settlementDate = cut.text('ps:IntrBkSttlmDt');
  const message: StatusReport = {
    ...{ messageId, createdAt, status, reason: null, acceptedAt, clearingReference: null },
    original: { ...original, amountCents, settlementDate },
    ...{ instructingAgent, instructedAgent },
  };
  const isSame = cut.isComplete && isWrittenAs(xml, () => buildStatusReport(header, message));
  return isSame ? { header, message } : null;
}

function cutHeader(cut: Cutter): BusinessHeader {
  return {
    from: cut.text('head:MmbId'),
    to: cut.text('head:MmbId'),
    businessMessageId: cut.text('head:BizMsgIdr'),
    createdAt: cut.text('head:CreDt'),
    copy: null,
  };
}

/** A builder that refuses the fields says that the message is not one of its own. */
function isWrittenAs(xml: string, build: () => string): boolean {
  try {
    return build() === xml;
  } catch (error) {
    if (error instanceof MessageFieldError) return false;
    throw error;
  }
}
