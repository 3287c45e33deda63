/** Every record of a NACHA file is one line of 94 columns; these tables are the only place that knows which. */
export const LINE_WIDTH = 94;
export const BLOCKING_FACTOR = 10;

/** `at` counts from zero; faults show the column counted from one. */
export type Field = { readonly at: number; readonly width: number };

function layout<const W extends Record<string, number>>(widths: W): { readonly [K in keyof W]: Field } {
  let at = 0;
  const fields = Object.entries(widths).map(([name, width]) => {
    const field = { at, width };
    at += width;
    return [name, field] as const;
  });
  if (at !== LINE_WIDTH) throw new Error(`A record layout covers ${at} columns instead of ${LINE_WIDTH}.`);
  return Object.fromEntries(fields) as { [K in keyof W]: Field };
}

export const FILE_HEADER = layout({
  recordType: 1,
  priorityCode: 2,
  immediateDestination: 10,
  immediateOrigin: 10,
  creationDate: 6,
  creationTime: 4,
  idModifier: 1,
  recordSize: 3,
  blockingFactor: 2,
  formatCode: 1,
  destinationName: 23,
  originName: 23,
  referenceCode: 8,
});

export const BATCH_HEADER = layout({
  recordType: 1,
  serviceClass: 3,
  companyName: 16,
  discretionaryData: 20,
  companyId: 10,
  sec: 3,
  entryDescription: 10,
  descriptiveDate: 6,
  effectiveDate: 6,
  settlementDate: 3,
  originatorStatus: 1,
  odfi: 8,
  batchNumber: 7,
});

export const ENTRY = layout({
  recordType: 1,
  transactionCode: 2,
  routingNumber: 9,
  accountNumber: 17,
  amount: 10,
  individualId: 15,
  individualName: 22,
  discretionaryData: 2,
  addendaIndicator: 1,
  trace: 15,
});

export const ADDENDA_05 = layout({
  recordType: 1,
  type: 2,
  text: 80,
  sequence: 4,
  entrySequence: 7,
});

export const ADDENDA_98 = layout({
  recordType: 1,
  type: 2,
  code: 3,
  originalTrace: 15,
  reservedAfterTrace: 6,
  originalRdfi: 8,
  correctedData: 29,
  reservedAfterData: 15,
  trace: 15,
});

export const ADDENDA_99 = layout({
  recordType: 1,
  type: 2,
  code: 3,
  originalTrace: 15,
  dateOfDeath: 6,
  originalRdfi: 8,
  information: 44,
  trace: 15,
});

export const BATCH_CONTROL = layout({
  recordType: 1,
  serviceClass: 3,
  entryCount: 6,
  hash: 10,
  debitTotal: 12,
  creditTotal: 12,
  companyId: 10,
  authenticationCode: 19,
  reserved: 6,
  odfi: 8,
  batchNumber: 7,
});

export const FILE_CONTROL = layout({
  recordType: 1,
  batchCount: 6,
  blockCount: 6,
  entryCount: 8,
  hash: 10,
  debitTotal: 12,
  creditTotal: 12,
  reserved: 39,
});
