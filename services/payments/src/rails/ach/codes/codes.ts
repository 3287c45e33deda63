/** Return reasons (R) and change codes (C) of the Nacha rules, as data. */

export type ReturnWindow =
  /** By the opening of the second banking day after settlement. */
  | 'two_banking_days'
  /** Consumer claims: by the opening of the banking day that follows the sixtieth calendar day. */
  | 'sixty_calendar_days'
  /** The originating bank's answer to a return, counted from the return's settlement. */
  | 'five_banking_days'
  /** No fixed day: by agreement of the banks, or as soon as the receiver refuses. */
  | 'open';

/** Who has to change something before another try could succeed. */
export type ReturnFault = 'receiver' | 'originator' | 'receiving_bank' | 'originating_bank';

// code, failure code, whose fault, window, title
const RETURN_ROWS = [
  ['R01', 'insufficient_funds', 'receiver', 'two_banking_days', 'Insufficient funds'],
  ['R02', 'account_closed', 'receiver', 'two_banking_days', 'Account closed'],
  ['R03', 'account_not_found', 'originator', 'two_banking_days', 'No account or unable to locate it'],
  ['R04', 'account_number_invalid', 'originator', 'two_banking_days', 'Invalid account number'],
  [
    'R05',
    'consumer_debit_unauthorized',
    'originator',
    'sixty_calendar_days',
    'Corporate code, consumer account',
  ],
  ['R06', 'returned_on_request', 'originating_bank', 'open', "Returned at the originating bank's request"],
  [
    'R07',
    'authorization_revoked',
    'receiver',
    'sixty_calendar_days',
    'Authorization revoked by the customer',
  ],
  ['R08', 'payment_stopped', 'receiver', 'two_banking_days', 'Payment stopped'],
  ['R09', 'uncollected_funds', 'receiver', 'two_banking_days', 'Uncollected funds'],
  [
    'R10',
    'debit_not_authorized',
    'originator',
    'sixty_calendar_days',
    'Originator unknown or not authorized',
  ],
  [
    'R11',
    'debit_not_as_authorized',
    'originator',
    'sixty_calendar_days',
    'Not according to the authorization',
  ],
  ['R12', 'branch_sold', 'originator', 'two_banking_days', 'Account sold to another bank'],
  ['R13', 'routing_number_invalid', 'originator', 'two_banking_days', 'Routing number not qualified for ACH'],
  ['R14', 'representative_payee_deceased', 'receiver', 'two_banking_days', 'Representative payee deceased'],
  [
    'R15',
    'account_holder_deceased',
    'receiver',
    'two_banking_days',
    'Beneficiary or account holder deceased',
  ],
  ['R16', 'account_frozen', 'receiver', 'two_banking_days', 'Account frozen or entry blocked by law'],
  ['R17', 'entry_questionable', 'originator', 'two_banking_days', 'Edit criteria or questionable entry'],
  ['R18', 'effective_date_improper', 'originating_bank', 'two_banking_days', 'Improper effective date'],
  ['R19', 'amount_field_error', 'originating_bank', 'two_banking_days', 'Amount field error'],
  ['R20', 'account_not_transactional', 'originator', 'two_banking_days', 'Not a transaction account'],
  ['R21', 'company_id_invalid', 'originator', 'two_banking_days', 'Invalid company identification'],
  ['R22', 'individual_id_invalid', 'originator', 'two_banking_days', 'Invalid individual identification'],
  ['R23', 'credit_refused', 'receiver', 'open', 'Credit refused by the receiver'],
  ['R24', 'duplicate_entry', 'originator', 'two_banking_days', 'Duplicate entry'],
  ['R25', 'addenda_error', 'originating_bank', 'two_banking_days', 'Addenda error'],
  ['R26', 'mandatory_field_error', 'originating_bank', 'two_banking_days', 'Mandatory field error'],
  ['R27', 'trace_number_error', 'originating_bank', 'two_banking_days', 'Trace number error'],
  ['R28', 'routing_check_digit_error', 'originating_bank', 'two_banking_days', 'Routing check digit error'],
  [
    'R29',
    'corporate_debit_unauthorized',
    'originator',
    'two_banking_days',
    'Corporate customer: not authorized',
  ],
  ['R30', 'check_truncation_unsupported', 'receiving_bank', 'two_banking_days', 'No check truncation'],
  ['R31', 'permissible_return', 'originator', 'open', 'Permissible return (CCD and CTX)'],
  ['R32', 'receiving_bank_non_settlement', 'receiving_bank', 'two_banking_days', 'Bank cannot settle'],
  ['R33', 'destroyed_check_returned', 'originator', 'sixty_calendar_days', 'Return of an XCK entry'],
  ['R34', 'limited_participation_bank', 'receiving_bank', 'two_banking_days', 'Limited participation bank'],
  ['R35', 'debit_improper', 'originator', 'two_banking_days', 'Improper debit entry'],
  ['R36', 'credit_improper', 'originator', 'two_banking_days', 'Improper credit entry'],
  ['R37', 'source_document_presented', 'originator', 'sixty_calendar_days', 'Source document presented'],
  ['R38', 'source_document_stopped', 'receiver', 'sixty_calendar_days', 'Stop payment on source document'],
  ['R39', 'source_document_improper', 'originator', 'two_banking_days', 'Improper source document'],
  ['R40', 'enrollment_returned', 'originator', 'two_banking_days', 'Enrollment returned by an agency'],
  ['R41', 'enrollment_transaction_code', 'originator', 'two_banking_days', 'Enrollment: transaction code'],
  ['R42', 'enrollment_routing_number', 'originator', 'two_banking_days', 'Enrollment: routing number'],
  ['R43', 'enrollment_account_number', 'originator', 'two_banking_days', 'Enrollment: account number'],
  ['R44', 'enrollment_individual_id', 'originator', 'two_banking_days', 'Enrollment: individual id'],
  ['R45', 'enrollment_name', 'originator', 'two_banking_days', 'Enrollment: individual name'],
  ['R46', 'enrollment_payee_indicator', 'originator', 'two_banking_days', 'Enrollment: payee indicator'],
  ['R47', 'enrollment_duplicate', 'originator', 'two_banking_days', 'Enrollment: duplicate'],
  ['R50', 'check_law_forbids', 'originator', 'two_banking_days', 'State law forbids RCK'],
  ['R51', 'check_ineligible', 'originator', 'sixty_calendar_days', 'Check ineligible or RCK entry improper'],
  ['R52', 'check_stopped', 'receiver', 'sixty_calendar_days', 'Stop payment on the check of an RCK entry'],
  ['R53', 'check_also_presented', 'originator', 'sixty_calendar_days', 'Check and RCK entry both presented'],
  ['R61', 'return_misrouted', 'receiving_bank', 'five_banking_days', 'Dishonored: misrouted return'],
  [
    'R62',
    'return_of_reversal',
    'receiving_bank',
    'five_banking_days',
    'Dishonored: erroneous or reversing debit',
  ],
  ['R63', 'return_amount_incorrect', 'receiving_bank', 'five_banking_days', 'Dishonored: wrong amount'],
  [
    'R64',
    'return_individual_id_incorrect',
    'receiving_bank',
    'five_banking_days',
    'Dishonored: wrong individual',
  ],
  [
    'R65',
    'return_transaction_code',
    'receiving_bank',
    'five_banking_days',
    'Dishonored: wrong transaction code',
  ],
  ['R66', 'return_company_id_incorrect', 'receiving_bank', 'five_banking_days', 'Dishonored: wrong company'],
  ['R67', 'return_duplicate', 'receiving_bank', 'five_banking_days', 'Dishonored: duplicate return'],
  ['R68', 'return_untimely', 'receiving_bank', 'five_banking_days', 'Dishonored: untimely return'],
  ['R69', 'return_field_errors', 'receiving_bank', 'five_banking_days', 'Dishonored: field errors'],
  ['R70', 'return_not_accepted', 'receiving_bank', 'five_banking_days', 'Dishonored: return not accepted'],
  ['R71', 'dishonor_misrouted', 'originating_bank', 'two_banking_days', 'Contested: misrouted dishonor'],
  ['R72', 'dishonor_untimely', 'originating_bank', 'two_banking_days', 'Contested: untimely dishonor'],
  ['R73', 'return_was_timely', 'originating_bank', 'two_banking_days', 'Contested: the return was timely'],
  ['R74', 'return_corrected', 'receiving_bank', 'two_banking_days', 'Contested: corrected return'],
  ['R75', 'return_not_duplicate', 'originating_bank', 'two_banking_days', 'Contested: not a duplicate'],
  ['R76', 'return_without_errors', 'originating_bank', 'two_banking_days', 'Contested: no errors found'],
  ['R77', 'dishonor_not_accepted', 'originating_bank', 'two_banking_days', 'Contested: R62 not accepted'],
  [
    'R80',
    'international_coding_error',
    'originating_bank',
    'two_banking_days',
    'International: coding error',
  ],
  [
    'R81',
    'international_unsupported',
    'receiving_bank',
    'two_banking_days',
    'International: bank takes no part',
  ],
  [
    'R82',
    'international_bank_invalid',
    'originator',
    'two_banking_days',
    'International: unknown foreign bank',
  ],
  [
    'R83',
    'international_non_settlement',
    'receiving_bank',
    'two_banking_days',
    'International: cannot settle',
  ],
  [
    'R84',
    'international_not_processed',
    'receiving_bank',
    'two_banking_days',
    'International: gateway refused',
  ],
  ['R85', 'international_misclassified', 'originator', 'two_banking_days', 'International: wrong class'],
] as const satisfies readonly (readonly [string, string, ReturnFault, ReturnWindow, string])[];

export type ReturnCode = (typeof RETURN_ROWS)[number][0];

export type ReturnReason = {
  readonly code: ReturnCode;
  readonly failureCode: string;
  readonly fault: ReturnFault;
  readonly window: ReturnWindow;
  readonly title: string;
  /** Only money that was not there yet may be asked for again; how often is in the terms. */
  readonly representable: boolean;
};

const REPRESENTABLE: ReadonlySet<string> = new Set(['R01', 'R09']);

export const RETURN_REASONS: ReadonlyMap<string, ReturnReason> = new Map(
  RETURN_ROWS.map(([code, failureCode, fault, window, title]) => [
    code,
    { code, failureCode, fault, window, title, representable: REPRESENTABLE.has(code) },
  ]),
);

export function isReturnCode(code: string): code is ReturnCode {
  return RETURN_REASONS.has(code);
}

const BETWEEN_BANKS = /^R[67]\d$/;

/** Dishonored and contested returns: banks send them about returns, and we have sent nothing that they could answer. */
export function isBetweenBanks(code: string): boolean {
  return BETWEEN_BANKS.test(code);
}

/** Whether a bank can send back an entry of ours with it. */
export function isEntryReturnCode(code: string): code is ReturnCode {
  return isReturnCode(code) && !isBetweenBanks(code);
}

export function returnReason(code: ReturnCode): ReturnReason {
  return RETURN_REASONS.get(code) as ReturnReason;
}

export type ColumnRange = { readonly at: number; readonly width: number };

/** What a change code corrects, and in which of the 29 columns each part stands. */
export type ChangeLayout = {
  readonly routingNumber?: ColumnRange;
  readonly accountNumber?: ColumnRange;
  readonly transactionCode?: ColumnRange;
  readonly name?: ColumnRange;
  readonly individualId?: ColumnRange;
};

// code, columns, title
const CHANGE_ROWS = [
  ['C01', { accountNumber: { at: 0, width: 17 } }, 'Incorrect account number'],
  ['C02', { routingNumber: { at: 0, width: 9 } }, 'Incorrect routing number'],
  [
    'C03',
    { routingNumber: { at: 0, width: 9 }, accountNumber: { at: 12, width: 17 } },
    'Incorrect routing number and account number',
  ],
  ['C04', { name: { at: 0, width: 22 } }, 'Incorrect name'],
  ['C05', { transactionCode: { at: 0, width: 2 } }, 'Incorrect transaction code'],
  [
    'C06',
    { accountNumber: { at: 0, width: 17 }, transactionCode: { at: 20, width: 2 } },
    'Incorrect account number and transaction code',
  ],
  [
    'C07',
    {
      routingNumber: { at: 0, width: 9 },
      accountNumber: { at: 9, width: 17 },
      transactionCode: { at: 26, width: 2 },
    },
    'Incorrect routing number, account number and transaction code',
  ],
  ['C08', {}, 'Incorrect receiving bank of an international entry'],
  ['C09', { individualId: { at: 0, width: 22 } }, 'Incorrect individual identification'],
  ['C13', {}, 'Addenda format error'],
  ['C14', {}, 'Incorrect entry class of an international entry'],
] as const satisfies readonly (readonly [string, ChangeLayout, string])[];

export type ChangeCode = (typeof CHANGE_ROWS)[number][0];

export type ChangeReason = {
  readonly code: ChangeCode;
  readonly title: string;
  readonly layout: ChangeLayout;
};

export const CHANGE_REASONS: ReadonlyMap<string, ChangeReason> = new Map(
  CHANGE_ROWS.map(([code, layout, title]) => [code, { code, layout, title }]),
);

export function isChangeCode(code: string): code is ChangeCode {
  return CHANGE_REASONS.has(code);
}

/** The details to store from now on. A field that the code does not correct is absent. */
export type Correction = {
  readonly routingNumber?: string;
  readonly accountNumber?: string;
  readonly transactionCode?: string;
  readonly name?: string;
  readonly individualId?: string;
};
