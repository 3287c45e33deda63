import type { Field } from './layout.ts';

/** Each rule that a file can break, with what it demands. Faults carry the id; people read the sentence. */
export const NACHA_RULES = {
  lines_max: 'A file has no more lines than the reader takes.',
  faults_max: 'After this many faults the rest is not listed.',
  line_length: 'A line has at most 94 columns.',
  line_blank: 'No empty line stands between records.',
  character: 'Only printable ASCII is allowed.',
  record_type: 'A record begins with 1, 5, 6, 7, 8 or 9.',
  record_order:
    'Records stand in the order header, batches (header, entries with addenda, control), control.',
  file_header_missing: 'A file begins with a file header.',
  file_control_missing: 'A file ends with a file control.',
  batch_control_missing: 'A batch ends with a batch control.',
  padding: 'After the file control come at most nine lines of nines, and nothing else.',
  field_fixed: 'A constant column holds its constant.',
  field_reserved: 'A reserved column is blank.',
  field_numeric: 'A numeric field holds digits only.',
  field_required: 'A mandatory field is not blank.',
  field_overflow: 'A value fits its columns.',
  immediate_destination: 'The immediate destination is a routing number.',
  immediate_origin: 'The immediate origin is a routing number or a number of ten digits.',
  creation_date: 'The creation date is a day of the calendar.',
  creation_time: 'The creation time is blank or a time of day.',
  file_id_modifier: 'The file id modifier is A-Z or 0-9.',
  service_class: 'The service class is 200, 220 or 225.',
  sec_code: 'The standard entry class is one that this reader knows.',
  effective_date: 'The effective date is a day of the calendar.',
  settlement_date: 'The settlement date is blank or a day of the year.',
  originator_status: 'The originator status is 0, 1 or 2.',
  batch_number_order: 'Batch numbers ascend through a file.',
  batch_empty: 'A batch has entries.',
  transaction_code: 'The transaction code is known, and allowed for the entry class.',
  service_class_entries: 'Class 220 holds credits only, class 225 debits only.',
  routing_check_digit: 'A routing number ends with its check digit.',
  amount_live: 'An entry that moves money has an amount.',
  amount_zero: 'Prenotes, zero-amount entries and notifications of change have no amount.',
  trace_odfi: "A trace begins with the eight digits of the batch's originating bank.",
  trace_order: 'Traces ascend through a batch.',
  addenda_indicator: 'The addenda indicator says whether addenda follow.',
  addenda_type: 'An addenda record is of type 05, 98 or 99, as entry and class allow.',
  addenda_count: 'An entry has as many addenda as its class allows.',
  addenda_sequence: 'Addenda of an entry are numbered from 1.',
  addenda_link: 'An addenda record names the trace of its entry.',
  reply_transaction_code: 'Returns and notifications of change, and only they, use reply transaction codes.',
  return_code: 'The return reason is a known R code.',
  date_of_death: 'The date of death is blank or a day of the calendar.',
  noc_code: 'The change code is a known C code.',
  noc_corrected_data: 'The corrected data is what its change code asks for.',
  batch_entry_count: 'The batch control counts the entries and addenda of its batch.',
  batch_hash: 'The batch control holds the entry hash of its batch.',
  batch_debit_total: 'The batch control holds the sum of the debits.',
  batch_credit_total: 'The batch control holds the sum of the credits.',
  batch_control_class: "The batch control repeats the header's service class.",
  batch_control_company: "The batch control repeats the header's company id.",
  batch_control_odfi: "The batch control repeats the header's originating bank.",
  batch_control_number: "The batch control repeats the header's batch number.",
  file_batch_count: 'The file control counts the batches.',
  file_block_count: 'The file control counts the blocks of ten lines.',
  file_entry_count: 'The file control counts all entries and addenda.',
  file_hash: 'The file control holds the sum of the entry hashes.',
  file_debit_total: 'The file control holds the sum of all debits.',
  file_credit_total: 'The file control holds the sum of all credits.',
} as const satisfies Record<string, string>;

export type NachaRule = keyof typeof NACHA_RULES;

/** Line and column count from one. The detail never repeats an account number, so faults may be logged. */
export type Fault = {
  readonly line: number;
  readonly column: number;
  readonly rule: NachaRule;
  readonly detail: string;
};

export type Report = (field: Field, rule: NachaRule, detail: string) => void;

export class FaultLog {
  readonly #faults: Fault[] = [];
  readonly #faultsMax: number;
  /** The line that `report` speaks of. */
  line = 1;

  constructor(faultsMax: number) {
    this.#faultsMax = faultsMax;
  }

  readonly report: Report = (field, rule, detail) => {
    this.add({ line: this.line, column: field.at + 1, rule, detail });
  };

  /** For rules that can only be judged later than the line they concern. */
  reportOn(line: number): Report {
    return (field, rule, detail) => this.add({ line, column: field.at + 1, rule, detail });
  }

  add(fault: Fault): void {
    if (this.#faults.length < this.#faultsMax) this.#faults.push(fault);
    else if (this.#faults.length === this.#faultsMax) {
      const detail = `More than ${this.#faultsMax} faults: the rest is not listed.`;
      this.#faults.push({ line: fault.line, column: fault.column, rule: 'faults_max', detail });
    }
  }

  get isEmpty(): boolean {
    return this.#faults.length === 0;
  }

  /** In the order of the file, although some rules are judged at the end of a batch. */
  sorted(): Fault[] {
    return this.#faults.toSorted((a, b) => a.line - b.line || a.column - b.column);
  }
}
