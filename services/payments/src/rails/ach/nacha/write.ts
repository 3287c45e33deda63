import {
  checkAddenda,
  checkBatch,
  checkBatchHeader,
  checkEntry,
  checkEntryWithAddenda,
  checkFileHeader,
} from './checks.ts';
import { type Fault, FaultLog } from './faults.ts';
import { BATCH_CONTROL, BLOCKING_FACTOR } from './layout.ts';
import type { Addenda, Batch, NachaFile } from './model.ts';
import { Page } from './page.ts';
import {
  renderAddenda,
  renderBatchControl,
  renderBatchHeader,
  renderEntry,
  renderFileControl,
  renderFileHeader,
  renderPadding,
} from './render.ts';
import { addTotals, countEntry, emptyTotals, type Totals } from './totals.ts';

const FAULTS_MAX = 1_000;

/** A file that breaks a rule was built wrongly: it must not reach a bank, and no caller can carry on with it. */
export class NachaFileRefused extends Error {
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    const first = faults[0];
    super(
      `The file breaks ${faults.length} rules, first ${first?.rule} in line ${first?.line}: ${first?.detail}`,
    );
    this.name = 'NachaFileRefused';
    this.faults = faults;
  }
}

/** Every line ends with a newline, and lines of nines fill the last block. Linear in the number of entries. */
export function writeNacha(file: NachaFile): string {
  const log = new FaultLog(FAULTS_MAX);
  const records = countRecords(file);
  const blockCount = Math.ceil(records / BLOCKING_FACTOR);
  const page = new Page(blockCount * BLOCKING_FACTOR, log);
  const totals = emptyTotals();
  renderFileHeader(page, file.header);
  checkFileHeader(file.header, log.report);
  let numberBefore = 0;
  for (const batch of file.batches) {
    addTotals(totals, writeBatch(batch, numberBefore, page, log));
    numberBefore = batch.header.batchNumber;
  }
  renderFileControl(page, { batchCount: file.batches.length, blockCount }, totals);
  if (!log.isEmpty) throw new NachaFileRefused(log.sorted());
  for (let line = records; line % BLOCKING_FACTOR !== 0; line += 1) renderPadding(page);
  return page.toString();
}

/** Header and control of the file and of each batch, entries and addenda. */
function countRecords(file: NachaFile): number {
  let count = 2;
  for (const batch of file.batches) {
    count += 2 + batch.entries.length;
    for (const entry of batch.entries) count += entry.addenda.length;
  }
  return count;
}

function writeBatch(batch: Batch, numberBefore: number, page: Page, log: FaultLog): Totals {
  const { header } = batch;
  const totals = emptyTotals();
  renderBatchHeader(page, header);
  checkBatchHeader(header, numberBefore, log.report);
  checkBatch(header, batch.entries, log.report);
  let traceBefore = '';
  for (const entry of batch.entries) {
    renderEntry(page, entry);
    checkEntry(entry, header, traceBefore, log.report);
    checkEntryWithAddenda(entry, header, log.report);
    for (let index = 0; index < entry.addenda.length; index += 1) {
      const addenda = entry.addenda[index] as Addenda;
      renderAddenda(page, addenda, { entryTrace: entry.trace, sequence: index + 1 });
      checkAddenda(addenda, { entry, header, index }, log.report);
    }
    countEntry(totals, entry);
    traceBefore = entry.trace;
  }
  renderBatchControl(page, batch, totals);
  if (batch.controlCompanyId !== undefined && batch.controlCompanyId.trim() !== header.companyId.trim())
    log.report(
      BATCH_CONTROL.companyId,
      'batch_control_company',
      'Header and control name different companies.',
    );
  return totals;
}
