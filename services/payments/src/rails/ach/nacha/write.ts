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
import type { Batch, NachaFile } from './model.ts';
import {
  PADDING_LINE,
  renderAddenda,
  renderBatchControl,
  renderBatchHeader,
  renderEntry,
  renderFileControl,
  renderFileHeader,
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

/**
 * One line at a time into an array that is joined once: the cost is linear in the number of entries.
 * Ends with a newline, padded with nines to whole blocks.
 */
export function writeNacha(file: NachaFile): string {
  const lines: string[] = [];
  const log = new FaultLog(FAULTS_MAX);
  const totals = emptyTotals();
  checkFileHeader(file.header, log.report);
  lines.push(renderFileHeader(file.header, log.report));
  let numberBefore = 0;
  for (const batch of file.batches) {
    log.line = lines.length + 1;
    checkBatchHeader(batch.header, numberBefore, log.report);
    addTotals(totals, writeBatch(batch, lines, log));
    numberBefore = batch.header.batchNumber;
  }
  log.line = lines.length + 1;
  const blockCount = Math.ceil((lines.length + 1) / BLOCKING_FACTOR);
  lines.push(renderFileControl({ batchCount: file.batches.length, blockCount }, totals, log.report));
  if (!log.isEmpty) throw new NachaFileRefused(log.sorted());
  while (lines.length % BLOCKING_FACTOR !== 0) lines.push(PADDING_LINE);
  lines.push('');
  return lines.join('\n');
}

function writeBatch(batch: Batch, lines: string[], log: FaultLog): Totals {
  const { header } = batch;
  const totals = emptyTotals();
  const headerLine = lines.length + 1;
  lines.push(renderBatchHeader(header, log.report));
  let traceBefore = '';
  for (const entry of batch.entries) {
    log.line = lines.length + 1;
    checkEntry(entry, header, traceBefore, log.report);
    checkEntryWithAddenda(entry, header, log.report);
    lines.push(renderEntry(entry, log.report));
    entry.addenda.forEach((addenda, index) => {
      log.line = lines.length + 1;
      checkAddenda(addenda, { entry, header, index }, log.report);
      lines.push(renderAddenda(addenda, { entryTrace: entry.trace, sequence: index + 1 }, log.report));
    });
    countEntry(totals, entry);
    traceBefore = entry.trace;
  }
  checkBatch(header, batch.entries, log.reportOn(headerLine));
  log.line = lines.length + 1;
  if (batch.controlCompanyId !== undefined && batch.controlCompanyId.trim() !== header.companyId.trim())
    log.report(
      BATCH_CONTROL.companyId,
      'batch_control_company',
      'Header and control name different companies.',
    );
  lines.push(renderBatchControl(batch, totals, log.report));
  return totals;
}
