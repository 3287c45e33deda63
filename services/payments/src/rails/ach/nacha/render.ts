import {
  ADDENDA_05,
  ADDENDA_98,
  ADDENDA_99,
  BATCH_CONTROL,
  BATCH_HEADER,
  ENTRY,
  FILE_CONTROL,
  FILE_HEADER,
  LINE_WIDTH,
} from './layout.ts';
import type { Addenda, Batch, BatchHeader, Entry, FileHeader } from './model.ts';
import type { Page } from './page.ts';
import type { Totals } from './totals.ts';

/** From records to lines. Columns that are not named here stay blank. */

const PADDING_LINE = '9'.repeat(LINE_WIDTH);

export function renderFileHeader(page: Page, header: FileHeader): void {
  page.begin('101');
  page.textRight(FILE_HEADER.immediateDestination, header.immediateDestination);
  page.textRight(FILE_HEADER.immediateOrigin, header.immediateOrigin);
  page.text(FILE_HEADER.creationDate, header.creationDate);
  page.text(FILE_HEADER.creationTime, header.creationTime);
  page.text(FILE_HEADER.idModifier, header.idModifier);
  page.text(FILE_HEADER.recordSize, '094');
  page.text(FILE_HEADER.blockingFactor, '10');
  page.text(FILE_HEADER.formatCode, '1');
  page.text(FILE_HEADER.destinationName, header.destinationName);
  page.text(FILE_HEADER.originName, header.originName);
  page.text(FILE_HEADER.referenceCode, header.referenceCode);
}

export function renderBatchHeader(page: Page, header: BatchHeader): void {
  page.begin('5');
  page.text(BATCH_HEADER.serviceClass, header.serviceClass);
  page.text(BATCH_HEADER.companyName, header.companyName);
  page.text(BATCH_HEADER.discretionaryData, header.discretionaryData);
  page.text(BATCH_HEADER.companyId, header.companyId);
  page.text(BATCH_HEADER.sec, header.sec);
  page.text(BATCH_HEADER.entryDescription, header.entryDescription);
  page.text(BATCH_HEADER.descriptiveDate, header.descriptiveDate);
  page.text(BATCH_HEADER.effectiveDate, header.effectiveDate);
  page.text(BATCH_HEADER.settlementDate, header.settlementDate);
  page.text(BATCH_HEADER.originatorStatus, header.originatorStatus);
  page.digits(BATCH_HEADER.odfi, header.odfi);
  page.number(BATCH_HEADER.batchNumber, header.batchNumber);
}

export function renderEntry(page: Page, entry: Entry): void {
  page.begin('6');
  page.text(ENTRY.transactionCode, entry.transactionCode);
  page.digits(ENTRY.routingNumber, entry.routingNumber);
  page.text(ENTRY.accountNumber, entry.accountNumber);
  page.number(ENTRY.amount, entry.amountCents);
  page.text(ENTRY.individualId, entry.individualId);
  page.text(ENTRY.individualName, entry.individualName);
  page.text(ENTRY.discretionaryData, entry.discretionaryData);
  page.text(ENTRY.addendaIndicator, entry.addenda.length > 0 ? '1' : '0');
  page.digits(ENTRY.trace, entry.trace);
}

export function renderAddenda(
  page: Page,
  addenda: Addenda,
  place: { entryTrace: string; sequence: number },
): void {
  page.begin(`7${addenda.type}`);
  switch (addenda.type) {
    case '05':
      page.text(ADDENDA_05.text, addenda.text);
      page.number(ADDENDA_05.sequence, place.sequence);
      page.digits(ADDENDA_05.entrySequence, place.entryTrace.slice(-ADDENDA_05.entrySequence.width));
      return;
    case '98':
      page.text(ADDENDA_98.code, addenda.code);
      page.digits(ADDENDA_98.originalTrace, addenda.originalTrace);
      page.digits(ADDENDA_98.originalRdfi, addenda.originalRdfi);
      page.text(ADDENDA_98.correctedData, addenda.correctedData);
      page.digits(ADDENDA_98.trace, addenda.trace ?? place.entryTrace);
      return;
    case '99':
      page.text(ADDENDA_99.code, addenda.code);
      page.digits(ADDENDA_99.originalTrace, addenda.originalTrace);
      page.text(ADDENDA_99.dateOfDeath, addenda.dateOfDeath);
      page.digits(ADDENDA_99.originalRdfi, addenda.originalRdfi);
      page.text(ADDENDA_99.information, addenda.information);
      page.digits(ADDENDA_99.trace, place.entryTrace);
  }
}

export function renderBatchControl(page: Page, batch: Batch, totals: Totals): void {
  const { header } = batch;
  page.begin('8');
  page.text(BATCH_CONTROL.serviceClass, header.serviceClass);
  page.number(BATCH_CONTROL.entryCount, totals.entryCount);
  page.number(BATCH_CONTROL.hash, totals.hash);
  page.number(BATCH_CONTROL.debitTotal, totals.debitTotal);
  page.number(BATCH_CONTROL.creditTotal, totals.creditTotal);
  page.text(BATCH_CONTROL.companyId, batch.controlCompanyId ?? header.companyId);
  page.text(BATCH_CONTROL.authenticationCode, batch.authenticationCode ?? '');
  page.digits(BATCH_CONTROL.odfi, header.odfi);
  page.number(BATCH_CONTROL.batchNumber, header.batchNumber);
}

export function renderFileControl(
  page: Page,
  counts: { batchCount: number; blockCount: number },
  totals: Totals,
): void {
  page.begin('9');
  page.number(FILE_CONTROL.batchCount, counts.batchCount);
  page.number(FILE_CONTROL.blockCount, counts.blockCount);
  page.number(FILE_CONTROL.entryCount, totals.entryCount);
  page.number(FILE_CONTROL.hash, totals.hash);
  page.number(FILE_CONTROL.debitTotal, totals.debitTotal);
  page.number(FILE_CONTROL.creditTotal, totals.creditTotal);
}

export function renderPadding(page: Page): void {
  page.begin(PADDING_LINE);
}
