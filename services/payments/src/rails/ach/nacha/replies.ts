import { dfiOf, routingNumberOf } from '../../routing-number.ts';
import type { ChangeCode, Correction, ReturnCode } from '../codes/codes.ts';
import { formatCorrectedData, parseCorrectedData } from '../codes/corrected-data.ts';
import { parseTrace, traceNumber } from '../outgoing/traces.ts';
import type { Batch, BatchHeader, Entry, NachaFile } from './model.ts';
import { findTransactionCode, transactionCodeFor } from './transaction-codes.ts';

/** Returns and notifications of change: what comes back for an entry, read by us and written by receiving banks. */

type ReplyBase = {
  /** The trace of the entry that this answers: by it the payment is found. */
  readonly originalTrace: string;
  readonly originalRdfi: string;
  /** The trace that the receiving bank gave to the reply itself. */
  readonly trace: string;
  readonly direction: 'debit' | 'credit';
  readonly accountNumber: string;
  readonly individualName: string;
  readonly companyId: string;
  readonly sec: string;
};

export type ReturnReply = ReplyBase & {
  readonly kind: 'return';
  readonly code: ReturnCode;
  readonly amountCents: number;
  /** YYMMDD, or empty. */
  readonly dateOfDeath: string;
  readonly information: string;
};

export type ChangeReply = ReplyBase & {
  readonly kind: 'noc';
  readonly code: ChangeCode;
  readonly correctedData: string;
  readonly correction: Correction;
};

export type Reply = ReturnReply | ChangeReply;

/** Every reply of a file that was read without fault, in the file's order. Other entries are passed over. */
export function repliesOf(file: NachaFile): Reply[] {
  return file.batches.flatMap((batch) =>
    batch.entries.flatMap((entry) => replyOf(entry, batch.header) ?? []),
  );
}

function replyOf(entry: Entry, header: BatchHeader): Reply | undefined {
  const addenda = entry.addenda[0];
  const direction = findTransactionCode(entry.transactionCode)?.direction;
  if (!addenda || addenda.type === '05' || !direction) return undefined;
  const base: ReplyBase = {
    originalTrace: addenda.originalTrace,
    originalRdfi: addenda.originalRdfi,
    trace: entry.trace,
    direction,
    accountNumber: entry.accountNumber,
    individualName: entry.individualName,
    companyId: header.companyId,
    sec: header.sec,
  };
  if (addenda.type === '99')
    return {
      ...base,
      kind: 'return',
      code: addenda.code as ReturnCode,
      amountCents: entry.amountCents,
      dateOfDeath: addenda.dateOfDeath,
      information: addenda.information,
    };
  const parsed = parseCorrectedData(addenda.code, addenda.correctedData);
  if (!parsed.ok) return undefined;
  return {
    ...base,
    kind: 'noc',
    code: addenda.code as ChangeCode,
    correctedData: addenda.correctedData,
    correction: parsed.correction,
  };
}

/** The entry to answer, and the numbers that the answering bank gives. */
export type ReplyTo = {
  readonly header: BatchHeader;
  readonly entry: Entry;
  /** Of the receiving bank, which now becomes the sender. */
  readonly traceSequence: number;
  readonly batchNumber: number;
  /** YYMMDD on which the reply settles. */
  readonly effectiveDate: string;
};

/** One batch per reply: replies of a bank concern many companies, and a batch has one. */
export function returnBatch(
  to: ReplyTo,
  reason: { readonly code: ReturnCode; readonly dateOfDeath?: string; readonly information?: string },
): Batch {
  return replyBatch(to, to.header.sec, {
    amountCents: to.entry.amountCents,
    addenda: [
      {
        type: '99',
        code: reason.code,
        originalTrace: to.entry.trace,
        dateOfDeath: reason.dateOfDeath ?? '',
        originalRdfi: dfiOf(to.entry.routingNumber),
        information: reason.information ?? '',
      },
    ],
  });
}

export type ChangeBatch =
  | { readonly ok: true; readonly batch: Batch }
  | { readonly ok: false; readonly detail: string };

export function changeBatch(to: ReplyTo, code: ChangeCode, correction: Correction): ChangeBatch {
  const formatted = formatCorrectedData(code, correction);
  if (!formatted.ok) return { ok: false, detail: formatted.detail };
  const batch = replyBatch(to, 'COR', {
    amountCents: 0,
    addenda: [
      {
        type: '98',
        code,
        originalTrace: to.entry.trace,
        originalRdfi: dfiOf(to.entry.routingNumber),
        correctedData: formatted.data.trimEnd(),
      },
    ],
  });
  return { ok: true, batch };
}

/** A reply travels backwards: its receiver is the bank that the original trace names. */
function replyBatch(to: ReplyTo, sec: string, part: Pick<Entry, 'amountCents' | 'addenda'>): Batch {
  const { header, entry } = to;
  const original = findTransactionCode(entry.transactionCode);
  const sender = parseTrace(entry.trace);
  const code =
    original &&
    transactionCodeFor({ account: original.account, direction: original.direction, kind: 'reply' });
  if (!original || !sender || !code)
    throw new RangeError(
      `An entry with code ${entry.transactionCode} and trace ${entry.trace} has no reply.`,
    );
  const rdfi = dfiOf(entry.routingNumber);
  return {
    header: {
      ...header,
      serviceClass: original.direction === 'credit' ? '220' : '225',
      sec,
      descriptiveDate: '',
      effectiveDate: to.effectiveDate,
      settlementDate: '',
      odfi: rdfi,
      batchNumber: to.batchNumber,
    },
    entries: [
      {
        ...entry,
        transactionCode: code,
        routingNumber: routingNumberOf(sender.odfi),
        trace: traceNumber(rdfi, to.traceSequence),
        ...part,
      },
    ],
  };
}
