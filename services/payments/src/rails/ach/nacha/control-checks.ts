import type { NachaRule, Report } from './faults.ts';
import { BATCH_CONTROL, FILE_CONTROL, type Field } from './layout.ts';
import type { BatchHeader } from './model.ts';
import type { ParsedBatchControl, ParsedFileControl } from './parse.ts';
import type { Totals } from './totals.ts';

/** A sum that could not be computed, or a field that could not be read, has its own fault already. */
function expectNumber(
  field: Field,
  rule: NachaRule,
  values: { written: number; computed: number },
  report: Report,
): void {
  const { written, computed } = values;
  if (Number.isNaN(written) || Number.isNaN(computed) || written === computed) return;
  report(field, rule, `${written} is written, ${computed} is computed.`);
}

export function checkBatchControl(
  control: ParsedBatchControl,
  batch: { header: BatchHeader; totals: Totals },
  report: Report,
): void {
  const { header, totals } = batch;
  const rules = {
    entryCount: 'batch_entry_count',
    hash: 'batch_hash',
    debitTotal: 'batch_debit_total',
    creditTotal: 'batch_credit_total',
  } as const satisfies Record<keyof Totals, NachaRule>;
  for (const name of Object.keys(rules) as (keyof Totals)[])
    expectNumber(
      BATCH_CONTROL[name],
      rules[name],
      { written: control[name], computed: totals[name] },
      report,
    );
  expectNumber(
    BATCH_CONTROL.batchNumber,
    'batch_control_number',
    { written: control.batchNumber, computed: header.batchNumber },
    report,
  );
  if (control.serviceClass !== header.serviceClass)
    report(BATCH_CONTROL.serviceClass, 'batch_control_class', `${header.serviceClass} is expected.`);
  // Some banks align the id differently in header and control; only its characters have to agree.
  if (control.companyId.trim() !== header.companyId.trim())
    report(BATCH_CONTROL.companyId, 'batch_control_company', `"${header.companyId.trim()}" is expected.`);
  if (control.odfi !== '' && header.odfi !== '' && control.odfi !== header.odfi)
    report(BATCH_CONTROL.odfi, 'batch_control_odfi', `${header.odfi} is expected.`);
}

export function checkFileControl(
  control: ParsedFileControl,
  computed: { batchCount: number; blockCount: number; totals: Totals },
  report: Report,
): void {
  const rows = [
    ['batchCount', 'file_batch_count', computed.batchCount],
    ['blockCount', 'file_block_count', computed.blockCount],
    ['entryCount', 'file_entry_count', computed.totals.entryCount],
    ['hash', 'file_hash', computed.totals.hash],
    ['debitTotal', 'file_debit_total', computed.totals.debitTotal],
    ['creditTotal', 'file_credit_total', computed.totals.creditTotal],
  ] as const;
  for (const [name, rule, value] of rows)
    expectNumber(FILE_CONTROL[name], rule, { written: control[name], computed: value }, report);
}
