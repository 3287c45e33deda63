import { isRoutingNumber } from '../../routing-number.ts';
import { isReturnCode } from '../codes/codes.ts';
import { parseCorrectedData } from '../codes/corrected-data.ts';
import { isFileDate, isFileTime } from './dates.ts';
import type { Report } from './faults.ts';
import { ADDENDA_05, ADDENDA_98, ADDENDA_99, BATCH_HEADER, ENTRY, FILE_HEADER } from './layout.ts';
import type { Addenda, Addenda98, Addenda99, BatchHeader, Entry, FileHeader } from './model.ts';
import { isSecCode, SEC_CODES } from './sec-codes.ts';
import { findTransactionCode, type TransactionCode } from './transaction-codes.ts';

/** The rules that reader and writer share: what is written here cannot be refused there. */

const SERVICE_CLASSES: ReadonlySet<string> = new Set(['200', '220', '225']);
const ORIGINATOR_STATUSES: ReadonlySet<string> = new Set(['0', '1', '2']);
const MODIFIER = /^[A-Z0-9]$/;
const TEN_DIGITS = /^\d{10}$/;
const DAY_OF_YEAR = /^(?:00[1-9]|0[1-9]\d|[12]\d\d|3[0-5]\d|36[0-6])$/;
const NO_DATE: ReadonlySet<string> = new Set(['', '000000']);

/** Nine digits, or ten that begin with a zero in place of the blank. */
function isRoutingField(value: string): boolean {
  const number = value.trim();
  return isRoutingNumber(number.length === 10 && number.startsWith('0') ? number.slice(1) : number);
}

export function checkFileHeader(header: FileHeader, report: Report): void {
  if (!isRoutingField(header.immediateDestination))
    report(FILE_HEADER.immediateDestination, 'immediate_destination', 'Not a routing number.');
  // Ten digits that do not begin with zero are a company number agreed with the bank, which has no check digit.
  const origin = header.immediateOrigin.trim();
  const isAgreedNumber = TEN_DIGITS.test(origin) && !origin.startsWith('0');
  if (!isAgreedNumber && !isRoutingField(origin))
    report(FILE_HEADER.immediateOrigin, 'immediate_origin', `"${origin}" is not a routing number.`);
  if (!isFileDate(header.creationDate))
    report(FILE_HEADER.creationDate, 'creation_date', `"${header.creationDate}" is not a YYMMDD date.`);
  if (header.creationTime !== '' && !isFileTime(header.creationTime))
    report(FILE_HEADER.creationTime, 'creation_time', `"${header.creationTime}" is not an HHMM time.`);
  if (!MODIFIER.test(header.idModifier))
    report(FILE_HEADER.idModifier, 'file_id_modifier', `"${header.idModifier}" is not A-Z or 0-9.`);
}

export function checkBatchHeader(header: BatchHeader, numberBefore: number, report: Report): void {
  if (!SERVICE_CLASSES.has(header.serviceClass))
    report(BATCH_HEADER.serviceClass, 'service_class', `"${header.serviceClass}" is not 200, 220 or 225.`);
  if (!isSecCode(header.sec)) report(BATCH_HEADER.sec, 'sec_code', `"${header.sec}" is not supported.`);
  for (const name of ['companyName', 'companyId', 'entryDescription'] as const)
    if (header[name].trim() === '') report(BATCH_HEADER[name], 'field_required', `${name} is blank.`);
  if (header.settlementDate !== '' && !DAY_OF_YEAR.test(header.settlementDate))
    report(BATCH_HEADER.settlementDate, 'settlement_date', `"${header.settlementDate}" is not 001 to 366.`);
  if (!ORIGINATOR_STATUSES.has(header.originatorStatus))
    report(BATCH_HEADER.originatorStatus, 'originator_status', `"${header.originatorStatus}" is unknown.`);
  if (header.batchNumber <= numberBefore)
    report(BATCH_HEADER.batchNumber, 'batch_number_order', `${header.batchNumber} follows ${numberBefore}.`);
}

/** Judged when the batch is complete: only then is it known whether it holds replies alone. */
export function checkBatch(header: BatchHeader, entries: readonly Entry[], report: Report): void {
  if (entries.length === 0) report(BATCH_HEADER.recordType, 'batch_empty', 'The batch has no entries.');
  const repliesOnly = entries.every((entry) => isReply(entry.addenda[0]));
  if (repliesOnly && NO_DATE.has(header.effectiveDate)) return;
  if (!isFileDate(header.effectiveDate))
    report(BATCH_HEADER.effectiveDate, 'effective_date', `"${header.effectiveDate}" is not a YYMMDD date.`);
}

export function isReply(addenda: Addenda | undefined): addenda is Addenda98 | Addenda99 {
  return addenda?.type === '98' || addenda?.type === '99';
}

/** What an entry's own line must satisfy. */
export function checkEntry(entry: Entry, header: BatchHeader, traceBefore: string, report: Report): void {
  const code = findTransactionCode(entry.transactionCode);
  if (!code)
    report(ENTRY.transactionCode, 'transaction_code', `"${entry.transactionCode}" is not a known code.`);
  else checkTransaction(entry, code, header, report);
  if (entry.routingNumber !== '' && !isRoutingNumber(entry.routingNumber))
    report(ENTRY.routingNumber, 'routing_check_digit', `${entry.routingNumber} fails its check digit.`);
  if (entry.accountNumber.trim() === '')
    report(ENTRY.accountNumber, 'field_required', 'The account number is blank.');
  if (entry.trace === '') return;
  if (header.odfi !== '' && !entry.trace.startsWith(header.odfi))
    report(ENTRY.trace, 'trace_odfi', `${entry.trace} does not begin with ${header.odfi}.`);
  if (entry.trace <= traceBefore)
    report(ENTRY.trace, 'trace_order', `${entry.trace} follows ${traceBefore}.`);
}

function checkTransaction(entry: Entry, code: TransactionCode, header: BatchHeader, report: Report): void {
  const refused = { '220': 'debit', '225': 'credit' }[header.serviceClass];
  if (code.direction === refused)
    report(
      ENTRY.transactionCode,
      'service_class_entries',
      `A ${code.direction} stands in a batch of class ${header.serviceClass}.`,
    );
  const zeroAllowed = isSecCode(header.sec) && SEC_CODES[header.sec].zeroAmounts;
  if (code.kind === 'zero' && isSecCode(header.sec) && !zeroAllowed)
    report(ENTRY.transactionCode, 'transaction_code', `${code.code} is not allowed in ${header.sec}.`);
  if (code.kind === 'live' && entry.amountCents === 0)
    report(ENTRY.amount, 'amount_live', `Code ${code.code} moves money, but the amount is zero.`);
  if ((code.kind === 'prenote' || code.kind === 'zero') && entry.amountCents > 0)
    report(ENTRY.amount, 'amount_zero', `Code ${code.code} moves no money, but there is an amount.`);
}

/** What an entry and its addenda must satisfy together. */
export function checkEntryWithAddenda(entry: Entry, header: BatchHeader, report: Report): void {
  const first = entry.addenda[0];
  const isReplyCode = findTransactionCode(entry.transactionCode)?.kind === 'reply';
  if (isReplyCode && !isReply(first))
    report(
      ENTRY.transactionCode,
      'reply_transaction_code',
      `Code ${entry.transactionCode} needs addenda 98 or 99.`,
    );
  if (isReply(first) && !isReplyCode)
    report(
      ENTRY.transactionCode,
      'reply_transaction_code',
      `Addenda ${first.type} needs a reply code, not ${entry.transactionCode}.`,
    );
  if (first?.type === '98' && entry.amountCents > 0)
    report(ENTRY.amount, 'amount_zero', 'A notification of change moves no money, but there is an amount.');
  if (header.sec === 'COR' && first?.type !== '98')
    report(ENTRY.addendaIndicator, 'addenda_count', 'An entry of class COR needs addenda 98.');
}

/** What one addenda record must satisfy, `index` being its place under its entry. */
export function checkAddenda(
  addenda: Addenda,
  place: { entry: Entry; header: BatchHeader; index: number },
  report: Report,
): void {
  const { entry, header, index } = place;
  if (index > 0 && (isReply(entry.addenda[0]) || isReply(addenda)))
    report(ADDENDA_05.type, 'addenda_count', 'A return or notification of change has one addenda record.');
  switch (addenda.type) {
    case '05':
      if (isSecCode(header.sec) && header.sec !== 'COR' && index >= SEC_CODES[header.sec].remittanceMax)
        report(
          ADDENDA_05.type,
          'addenda_count',
          `${header.sec} allows ${SEC_CODES[header.sec].remittanceMax}.`,
        );
      return;
    case '98':
      checkAddenda98(addenda, header, report);
      return;
    case '99':
      checkAddenda99(addenda, header, report);
      return;
  }
}

function checkAddenda98(addenda: Addenda98, header: BatchHeader, report: Report): void {
  if (isSecCode(header.sec) && header.sec !== 'COR')
    report(ADDENDA_98.type, 'addenda_type', `Addenda 98 belongs into class COR, not ${header.sec}.`);
  const parsed = parseCorrectedData(addenda.code, addenda.correctedData);
  if (!parsed.ok && parsed.reason === 'code_unknown')
    report(ADDENDA_98.code, 'noc_code', `"${addenda.code}" is not a known change code.`);
  else if (!parsed.ok) report(ADDENDA_98.correctedData, 'noc_corrected_data', parsed.detail);
}

function checkAddenda99(addenda: Addenda99, header: BatchHeader, report: Report): void {
  if (header.sec === 'COR') report(ADDENDA_99.type, 'addenda_type', 'Class COR holds addenda 98, not 99.');
  if (!isReturnCode(addenda.code))
    report(ADDENDA_99.code, 'return_code', `"${addenda.code}" is not a known return code.`);
  if (!NO_DATE.has(addenda.dateOfDeath) && !isFileDate(addenda.dateOfDeath))
    report(ADDENDA_99.dateOfDeath, 'date_of_death', `"${addenda.dateOfDeath}" is not a YYMMDD date.`);
}
