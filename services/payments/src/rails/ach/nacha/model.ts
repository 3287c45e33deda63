/**
 * A NACHA file as data. What can be computed (counts, hashes, totals, addenda indicators and sequence numbers)
 * is not in the model: the writer makes it and the reader proves it.
 * Text fields hold what stands in the columns without the blanks at the end.
 */
export type NachaFile = {
  readonly header: FileHeader;
  readonly batches: readonly Batch[];
};

export type FileHeader = {
  /** Nine digits, or ten where the file spells the leading blank as a digit. */
  readonly immediateDestination: string;
  readonly immediateOrigin: string;
  /** YYMMDD. */
  readonly creationDate: string;
  /** HHMM, or empty. */
  readonly creationTime: string;
  readonly idModifier: string;
  readonly destinationName: string;
  readonly originName: string;
  readonly referenceCode: string;
};

export type Batch = {
  readonly header: BatchHeader;
  readonly entries: readonly Entry[];
  /** Only where the control record spells the company id with other blanks than the header. */
  readonly controlCompanyId?: string;
  readonly authenticationCode?: string;
};

export type BatchHeader = {
  /** 200 mixed, 220 credits only, 225 debits only. */
  readonly serviceClass: string;
  readonly companyName: string;
  readonly discretionaryData: string;
  readonly companyId: string;
  readonly sec: string;
  readonly entryDescription: string;
  readonly descriptiveDate: string;
  /** YYMMDD; batches of returns and corrections may hold 000000 or nothing. */
  readonly effectiveDate: string;
  /** The day of the year, written by the ACH operator; empty when a file is sent. */
  readonly settlementDate: string;
  readonly originatorStatus: string;
  /** Eight digits of the bank that sends this batch. */
  readonly odfi: string;
  readonly batchNumber: number;
};

export type Entry = {
  readonly transactionCode: string;
  readonly routingNumber: string;
  readonly accountNumber: string;
  readonly amountCents: number;
  readonly individualId: string;
  readonly individualName: string;
  readonly discretionaryData: string;
  readonly trace: string;
  readonly addenda: readonly Addenda[];
};

export type Addenda = Addenda05 | Addenda98 | Addenda99;

/** Remittance text. */
export type Addenda05 = { readonly type: '05'; readonly text: string };

/** Notification of change. */
export type Addenda98 = {
  readonly type: '98';
  readonly code: string;
  readonly originalTrace: string;
  readonly originalRdfi: string;
  readonly correctedData: string;
  /** Only where it differs from the entry's trace. */
  readonly trace?: string;
};

/** Return. */
export type Addenda99 = {
  readonly type: '99';
  readonly code: string;
  readonly originalTrace: string;
  /** YYMMDD, or empty. */
  readonly dateOfDeath: string;
  readonly originalRdfi: string;
  readonly information: string;
};
