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
  LINE_WIDTH,
} from './layout.ts';
import type { Addenda, Batch, BatchHeader, Entry, FileHeader } from './model.ts';
import type { Totals } from './totals.ts';

/**
 * From records to lines of 94 columns. A value that does not fit is reported and never cut: a shortened account
 * number would be another account.
 */

export const PADDING_LINE = '9'.repeat(LINE_WIDTH);

const DIGITS = /^\d*$/;
const NOT_PRINTABLE = /[^\x20-\x7e]/;

function text(value: string, field: Field, report: Report): string {
  if (value.length > field.width)
    report(field, 'field_overflow', `${value.length} characters, ${field.width} columns.`);
  return value.padEnd(field.width);
}

function digitText(value: string, field: Field, report: Report): string {
  if (value.length !== field.width || !DIGITS.test(value))
    report(field, 'field_numeric', `${field.width} digits are expected.`);
  return value;
}

function number(value: number, field: Field, report: Report): string {
  const digits = String(value);
  if (!Number.isSafeInteger(value) || value < 0)
    report(field, 'field_numeric', `${digits} is not a whole number.`);
  else if (digits.length > field.width)
    report(field, 'field_overflow', `${digits.length} digits, ${field.width} columns.`);
  return digits.padStart(field.width, '0');
}

function blank(field: Field): string {
  return ' '.repeat(field.width);
}

/** Every line passes here, so that no character outside the alphabet leaves the house. */
function finish(line: string, report: Report): string {
  const at = line.search(NOT_PRINTABLE);
  if (at >= 0) report({ at, width: 1 }, 'character', 'Only printable ASCII is allowed.');
  return line;
}

export function renderFileHeader(header: FileHeader, report: Report): string {
  const destination = FILE_HEADER.immediateDestination;
  const origin = FILE_HEADER.immediateOrigin;
  return finish(
    `101${text(header.immediateDestination.padStart(destination.width), destination, report)}` +
      text(header.immediateOrigin.padStart(origin.width), origin, report) +
      text(header.creationDate, FILE_HEADER.creationDate, report) +
      text(header.creationTime, FILE_HEADER.creationTime, report) +
      text(header.idModifier, FILE_HEADER.idModifier, report) +
      '094101' +
      text(header.destinationName, FILE_HEADER.destinationName, report) +
      text(header.originName, FILE_HEADER.originName, report) +
      text(header.referenceCode, FILE_HEADER.referenceCode, report),
    report,
  );
}

export function renderBatchHeader(header: BatchHeader, report: Report): string {
  return finish(
    `5${text(header.serviceClass, BATCH_HEADER.serviceClass, report)}` +
      text(header.companyName, BATCH_HEADER.companyName, report) +
      text(header.discretionaryData, BATCH_HEADER.discretionaryData, report) +
      text(header.companyId, BATCH_HEADER.companyId, report) +
      text(header.sec, BATCH_HEADER.sec, report) +
      text(header.entryDescription, BATCH_HEADER.entryDescription, report) +
      text(header.descriptiveDate, BATCH_HEADER.descriptiveDate, report) +
      text(header.effectiveDate, BATCH_HEADER.effectiveDate, report) +
      text(header.settlementDate, BATCH_HEADER.settlementDate, report) +
      text(header.originatorStatus, BATCH_HEADER.originatorStatus, report) +
      digitText(header.odfi, BATCH_HEADER.odfi, report) +
      number(header.batchNumber, BATCH_HEADER.batchNumber, report),
    report,
  );
}

export function renderEntry(entry: Entry, report: Report): string {
  return finish(
    `6${text(entry.transactionCode, ENTRY.transactionCode, report)}` +
      digitText(entry.routingNumber, ENTRY.routingNumber, report) +
      text(entry.accountNumber, ENTRY.accountNumber, report) +
      number(entry.amountCents, ENTRY.amount, report) +
      text(entry.individualId, ENTRY.individualId, report) +
      text(entry.individualName, ENTRY.individualName, report) +
      text(entry.discretionaryData, ENTRY.discretionaryData, report) +
      (entry.addenda.length > 0 ? '1' : '0') +
      digitText(entry.trace, ENTRY.trace, report),
    report,
  );
}

export function renderAddenda(
  addenda: Addenda,
  place: { entryTrace: string; sequence: number },
  report: Report,
): string {
  switch (addenda.type) {
    case '05':
      return finish(
        `705${text(addenda.text, ADDENDA_05.text, report)}` +
          number(place.sequence, ADDENDA_05.sequence, report) +
          place.entryTrace.slice(-ADDENDA_05.entrySequence.width),
        report,
      );
    case '98':
      return finish(
        `798${text(addenda.code, ADDENDA_98.code, report)}` +
          digitText(addenda.originalTrace, ADDENDA_98.originalTrace, report) +
          blank(ADDENDA_98.reservedAfterTrace) +
          digitText(addenda.originalRdfi, ADDENDA_98.originalRdfi, report) +
          text(addenda.correctedData, ADDENDA_98.correctedData, report) +
          blank(ADDENDA_98.reservedAfterData) +
          digitText(addenda.trace ?? place.entryTrace, ADDENDA_98.trace, report),
        report,
      );
    case '99':
      return finish(
        `799${text(addenda.code, ADDENDA_99.code, report)}` +
          digitText(addenda.originalTrace, ADDENDA_99.originalTrace, report) +
          text(addenda.dateOfDeath, ADDENDA_99.dateOfDeath, report) +
          digitText(addenda.originalRdfi, ADDENDA_99.originalRdfi, report) +
          text(addenda.information, ADDENDA_99.information, report) +
          digitText(place.entryTrace, ADDENDA_99.trace, report),
        report,
      );
  }
}

export function renderBatchControl(batch: Batch, totals: Totals, report: Report): string {
  const { header } = batch;
  return finish(
    `8${text(header.serviceClass, BATCH_CONTROL.serviceClass, report)}` +
      number(totals.entryCount, BATCH_CONTROL.entryCount, report) +
      number(totals.hash, BATCH_CONTROL.hash, report) +
      number(totals.debitTotal, BATCH_CONTROL.debitTotal, report) +
      number(totals.creditTotal, BATCH_CONTROL.creditTotal, report) +
      text(batch.controlCompanyId ?? header.companyId, BATCH_CONTROL.companyId, report) +
      text(batch.authenticationCode ?? '', BATCH_CONTROL.authenticationCode, report) +
      blank(BATCH_CONTROL.reserved) +
      digitText(header.odfi, BATCH_CONTROL.odfi, report) +
      number(header.batchNumber, BATCH_CONTROL.batchNumber, report),
    report,
  );
}

export function renderFileControl(
  counts: { batchCount: number; blockCount: number },
  totals: Totals,
  report: Report,
): string {
  return finish(
    `9${number(counts.batchCount, FILE_CONTROL.batchCount, report)}` +
      number(counts.blockCount, FILE_CONTROL.blockCount, report) +
      number(totals.entryCount, FILE_CONTROL.entryCount, report) +
      number(totals.hash, FILE_CONTROL.hash, report) +
      number(totals.debitTotal, FILE_CONTROL.debitTotal, report) +
      number(totals.creditTotal, FILE_CONTROL.creditTotal, report) +
      blank(FILE_CONTROL.reserved),
    report,
  );
}
