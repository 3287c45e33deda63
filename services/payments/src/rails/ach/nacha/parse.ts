import type { Report } from './faults.ts';
import {
  ADDENDA_05,
  ADDENDA_98,
  ADDENDA_99,
  BATCH_CONTROL,
  BATCH_HEADER,
  ENTRY,
  FILE_CONTROL,
  FILE_HEADER,
  type Field,
} from './layout.ts';
import type { Addenda05, Addenda98, Addenda99, BatchHeader, Entry, FileHeader } from './model.ts';

/** From a line of 94 columns to a record. Rules about one field's form are judged here, all others in `checks`. */

export type ParsedBatchControl = {
  readonly serviceClass: string;
  readonly entryCount: number;
  readonly hash: number;
  readonly debitTotal: number;
  readonly creditTotal: number;
  readonly companyId: string;
  readonly authenticationCode: string;
  readonly odfi: string;
  readonly batchNumber: number;
};

export type ParsedFileControl = {
  readonly batchCount: number;
  readonly blockCount: number;
  readonly entryCount: number;
  readonly hash: number;
  readonly debitTotal: number;
  readonly creditTotal: number;
};

const ZERO = 48;
const NINE = 57;

function columns(line: string, field: Field): string {
  return line.slice(field.at, field.at + field.width);
}

function text(line: string, field: Field): string {
  return columns(line, field).trimEnd();
}

function digitText(line: string, field: Field, report: Report): string {
  const value = columns(line, field);
  for (let i = 0; i < value.length; i += 1) {
    const code = value.charCodeAt(i);
    if (code < ZERO || code > NINE) {
      report(field, 'field_numeric', `${field.width} digits are expected.`);
      return '';
    }
  }
  return value;
}

/** NaN when unreadable: every sum that it enters becomes NaN too, and a sum that is not known is not compared. */
function digits(line: string, field: Field, report: Report): number {
  const value = digitText(line, field, report);
  return value === '' ? Number.NaN : Number(value);
}

function expectFixed(line: string, field: Field, value: string, report: Report): void {
  if (columns(line, field) !== value) report(field, 'field_fixed', `"${value}" is expected.`);
}

function expectBlank(line: string, field: Field, report: Report): void {
  if (text(line, field) !== '')
    report(field, 'field_reserved', `These ${field.width} columns must be blank.`);
}

/** Routing numbers are right-aligned in ten columns; the blank before nine digits is not part of the number. */
function rightAligned(line: string, field: Field): string {
  const value = columns(line, field);
  return value.startsWith(' ') ? value.slice(1) : value;
}

export function parseFileHeader(line: string, report: Report): FileHeader {
  expectFixed(line, FILE_HEADER.priorityCode, '01', report);
  expectFixed(line, FILE_HEADER.recordSize, '094', report);
  expectFixed(line, FILE_HEADER.blockingFactor, '10', report);
  expectFixed(line, FILE_HEADER.formatCode, '1', report);
  return {
    immediateDestination: rightAligned(line, FILE_HEADER.immediateDestination),
    immediateOrigin: rightAligned(line, FILE_HEADER.immediateOrigin),
    creationDate: text(line, FILE_HEADER.creationDate),
    creationTime: text(line, FILE_HEADER.creationTime),
    idModifier: text(line, FILE_HEADER.idModifier),
    destinationName: text(line, FILE_HEADER.destinationName),
    originName: text(line, FILE_HEADER.originName),
    referenceCode: text(line, FILE_HEADER.referenceCode),
  };
}

export function parseBatchHeader(line: string, report: Report): BatchHeader {
  return {
    serviceClass: columns(line, BATCH_HEADER.serviceClass),
    companyName: text(line, BATCH_HEADER.companyName),
    discretionaryData: text(line, BATCH_HEADER.discretionaryData),
    companyId: text(line, BATCH_HEADER.companyId),
    sec: text(line, BATCH_HEADER.sec),
    entryDescription: text(line, BATCH_HEADER.entryDescription),
    descriptiveDate: text(line, BATCH_HEADER.descriptiveDate),
    effectiveDate: text(line, BATCH_HEADER.effectiveDate),
    settlementDate: text(line, BATCH_HEADER.settlementDate),
    originatorStatus: columns(line, BATCH_HEADER.originatorStatus),
    odfi: digitText(line, BATCH_HEADER.odfi, report),
    batchNumber: digits(line, BATCH_HEADER.batchNumber, report),
  };
}

/** The addenda follow on lines of their own, so the caller owns the array and fills it. */
export function parseEntry(line: string, addenda: Entry['addenda'], report: Report): Entry {
  return {
    transactionCode: columns(line, ENTRY.transactionCode),
    routingNumber: digitText(line, ENTRY.routingNumber, report),
    accountNumber: text(line, ENTRY.accountNumber),
    amountCents: digits(line, ENTRY.amount, report),
    individualId: text(line, ENTRY.individualId),
    individualName: text(line, ENTRY.individualName),
    discretionaryData: text(line, ENTRY.discretionaryData),
    trace: digitText(line, ENTRY.trace, report),
    addenda,
  };
}

export function addendaIndicator(line: string): string {
  return columns(line, ENTRY.addendaIndicator);
}

export function addendaType(line: string): string {
  return columns(line, ADDENDA_05.type);
}

export type AddendaPlace = { readonly entryTrace: string; readonly sequence: number };

export function parseAddenda05(line: string, place: AddendaPlace, report: Report): Addenda05 {
  const sequence = digits(line, ADDENDA_05.sequence, report);
  if (!Number.isNaN(sequence) && sequence !== place.sequence)
    report(ADDENDA_05.sequence, 'addenda_sequence', `${place.sequence} is expected, not ${sequence}.`);
  const link = digitText(line, ADDENDA_05.entrySequence, report);
  const expected = place.entryTrace.slice(-ADDENDA_05.entrySequence.width);
  if (link !== '' && expected !== '' && link !== expected)
    report(ADDENDA_05.entrySequence, 'addenda_link', `${expected} is expected, not ${link}.`);
  return { type: '05', text: text(line, ADDENDA_05.text) };
}

/** The trace of a notification is not compared: banks number these addenda apart from their entries. */
export function parseAddenda98(line: string, place: AddendaPlace, report: Report): Addenda98 {
  expectBlank(line, ADDENDA_98.reservedAfterTrace, report);
  expectBlank(line, ADDENDA_98.reservedAfterData, report);
  const trace = digitText(line, ADDENDA_98.trace, report);
  return {
    type: '98',
    code: columns(line, ADDENDA_98.code),
    originalTrace: digitText(line, ADDENDA_98.originalTrace, report),
    originalRdfi: digitText(line, ADDENDA_98.originalRdfi, report),
    correctedData: text(line, ADDENDA_98.correctedData),
    ...(trace === place.entryTrace ? {} : { trace }),
  };
}

export function parseAddenda99(line: string, place: AddendaPlace, report: Report): Addenda99 {
  const trace = digitText(line, ADDENDA_99.trace, report);
  if (trace !== '' && place.entryTrace !== '' && trace !== place.entryTrace)
    report(ADDENDA_99.trace, 'addenda_link', `${place.entryTrace} is expected, not ${trace}.`);
  return {
    type: '99',
    code: columns(line, ADDENDA_99.code),
    originalTrace: digitText(line, ADDENDA_99.originalTrace, report),
    dateOfDeath: text(line, ADDENDA_99.dateOfDeath),
    originalRdfi: digitText(line, ADDENDA_99.originalRdfi, report),
    information: text(line, ADDENDA_99.information),
  };
}

export function parseBatchControl(line: string, report: Report): ParsedBatchControl {
  expectBlank(line, BATCH_CONTROL.reserved, report);
  return {
    serviceClass: columns(line, BATCH_CONTROL.serviceClass),
    entryCount: digits(line, BATCH_CONTROL.entryCount, report),
    hash: digits(line, BATCH_CONTROL.hash, report),
    debitTotal: digits(line, BATCH_CONTROL.debitTotal, report),
    creditTotal: digits(line, BATCH_CONTROL.creditTotal, report),
    companyId: text(line, BATCH_CONTROL.companyId),
    authenticationCode: text(line, BATCH_CONTROL.authenticationCode),
    odfi: digitText(line, BATCH_CONTROL.odfi, report),
    batchNumber: digits(line, BATCH_CONTROL.batchNumber, report),
  };
}

export function parseFileControl(line: string, report: Report): ParsedFileControl {
  expectBlank(line, FILE_CONTROL.reserved, report);
  return {
    batchCount: digits(line, FILE_CONTROL.batchCount, report),
    blockCount: digits(line, FILE_CONTROL.blockCount, report),
    entryCount: digits(line, FILE_CONTROL.entryCount, report),
    hash: digits(line, FILE_CONTROL.hash, report),
    debitTotal: digits(line, FILE_CONTROL.debitTotal, report),
    creditTotal: digits(line, FILE_CONTROL.creditTotal, report),
  };
}
