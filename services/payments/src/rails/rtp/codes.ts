/**
 * Every reason for which the network or a bank rejects a transfer, and what follows from it. A rejected
 * transfer has definitely not moved money, so trying another rail is safe; the question that each row
 * answers is whether it can help. It cannot where the account is the reason, or where someone decided.
 * It can where the reason is the network, a bank's place in it, its limits, or a detail that only its
 * messages carry.
 */
export type RejectSubject = 'account' | 'bank' | 'network' | 'limit' | 'funds' | 'duplicate' | 'other';

export interface RejectReason {
  readonly code: string;
  readonly title: string;
  readonly about: RejectSubject;
  readonly mayWorkElsewhere: boolean;
  /** Whether the same transfer, sent anew later, may be accepted. */
  readonly temporary: boolean;
  /** What callers of the product see. */
  readonly failureCode: string;
}

type Row = readonly [about: RejectSubject, consequence: Consequence, failureCode: string, title: string];

/** The two decisions in one word: `final` here and elsewhere, `elsewhere` another rail may work, `later` both may. */
type Consequence = 'final' | 'elsewhere' | 'later';

const ROWS: Readonly<Record<string, Row>> = {
  AC01: ['account', 'final', 'account_invalid', 'The account number is not correct'],
  AC02: ['account', 'final', 'source_account_invalid', 'The account of the payer is not valid'],
  AC03: ['account', 'final', 'account_invalid', 'The account of the receiver is not valid'],
  AC04: ['account', 'final', 'account_closed', 'The account is closed'],
  AC06: ['account', 'final', 'account_blocked', 'The account is blocked'],
  AC07: ['account', 'final', 'account_closed', 'The account of the receiver is closed'],
  AC10: [
    'account',
    'final',
    'source_account_currency_invalid',
    'The payer has an account in another currency',
  ],
  AC11: ['account', 'final', 'account_currency_invalid', 'The receiver has an account in another currency'],
  AC13: ['account', 'final', 'source_account_type_invalid', 'The account of the payer is of the wrong type'],
  AC14: ['account', 'final', 'account_type_invalid', 'The account of the receiver is of the wrong type'],
  AG01: ['bank', 'elsewhere', 'transaction_forbidden', 'Instant transfers are forbidden on this account'],
  AG03: ['bank', 'elsewhere', 'transaction_not_supported', 'The bank does not support this type of transfer'],
  AGNT: ['bank', 'elsewhere', 'bank_invalid', 'A bank in the transfer is not the right one'],
  AM02: ['limit', 'elsewhere', 'amount_over_limit', 'The amount is above what is allowed'],
  AM04: ['funds', 'later', 'insufficient_funds', 'The funds available do not cover the amount'],
  AM09: ['other', 'final', 'amount_wrong', 'The amount is not the one agreed'],
  AM11: ['other', 'final', 'currency_invalid', 'The currency of the transfer is not valid'],
  AM12: ['other', 'final', 'amount_invalid', 'The amount is not valid'],
  AM13: ['limit', 'elsewhere', 'amount_over_limit', 'The amount is above the limit of the network'],
  AM14: ['limit', 'elsewhere', 'amount_over_limit', 'The amount is above the limit agreed with the bank'],
  BE04: ['other', 'elsewhere', 'address_invalid', 'The address of the receiver is missing or not correct'],
  BE06: ['account', 'final', 'customer_unknown', 'The bank does not know the customer'],
  BE07: [
    'other',
    'elsewhere',
    'source_address_invalid',
    'The address of the payer is missing or not correct',
  ],
  BE10: ['other', 'elsewhere', 'source_address_invalid', 'The country of the payer is missing or not valid'],
  BE11: ['other', 'elsewhere', 'address_invalid', 'The country of the receiver is missing or not valid'],
  BE13: [
    'other',
    'elsewhere',
    'source_address_invalid',
    'The country of residence of the payer is not valid',
  ],
  BE14: ['other', 'elsewhere', 'address_invalid', 'The country of residence of the receiver is not valid'],
  BE16: [
    'other',
    'elsewhere',
    'source_identification_invalid',
    'The identification of the payer is not valid',
  ],
  BE17: ['other', 'elsewhere', 'identification_invalid', 'The identification of the receiver is not valid'],
  BLKD: ['other', 'final', 'payment_blocked', 'The payment was blocked'],
  CH11: ['account', 'final', 'customer_unknown', 'The identifier of the receiver is not correct'],
  CUST: ['account', 'final', 'refused_by_customer', 'The customer refused the payment'],
  DS04: ['other', 'final', 'refused_by_bank', 'The bank refused the order'],
  DS0H: ['account', 'final', 'signer_not_allowed', 'The signer may not sign for this account'],
  DS24: ['network', 'later', 'network_timeout', 'The time allowed for an answer had passed'],
  DT04: ['other', 'elsewhere', 'message_refused', 'A date in the future is not supported'],
  DUPL: ['duplicate', 'final', 'duplicate_payment', 'The payment repeats another one'],
  FF02: ['other', 'elsewhere', 'message_refused', 'The message has an error in its form'],
  FF03: ['other', 'elsewhere', 'message_refused', 'The type of payment in the message is not valid'],
  FF08: ['other', 'elsewhere', 'message_refused', 'The end-to-end reference is missing or not valid'],
  MD07: ['account', 'final', 'account_holder_deceased', 'The holder of the account is deceased'],
  NARR: ['other', 'final', 'refused_by_bank', 'The bank refused, with the reason as text'],
  RC01: ['bank', 'elsewhere', 'bank_invalid', 'The identifier of a bank has the wrong form'],
  RC02: ['bank', 'elsewhere', 'bank_invalid', 'The identifier of a bank is not valid'],
  RC03: ['bank', 'elsewhere', 'source_bank_invalid', 'The identifier of the bank of the payer is not valid'],
  RC04: ['bank', 'elsewhere', 'bank_invalid', 'The identifier of the bank of the receiver is not valid'],
  SL03: ['network', 'later', 'network_unavailable', 'A service of the network did not answer'],
  // A token stands in for the account number, and would on ACH, too.
  TK01: ['account', 'final', 'account_token_invalid', 'The account token is not valid'],
  TK02: ['account', 'final', 'source_account_token_invalid', 'The account token of the payer was not found'],
  TK03: ['account', 'final', 'account_token_invalid', 'The account token of the receiver was not found'],
  TK04: ['account', 'final', 'account_token_expired', 'The account token has expired'],
  TK05: ['account', 'final', 'account_token_invalid', 'The account token belongs to another counterparty'],
  TK06: ['account', 'final', 'account_token_limit', 'The account token does not allow this amount'],
  TK07: ['account', 'final', 'account_token_used', 'The account token was for one use and is used'],
  TK08: ['account', 'final', 'account_token_suspended', 'The account token is suspended'],
  TK09: ['account', 'final', 'account_token_invalid', 'The account token was refused'],
  TM01: ['network', 'later', 'cutoff_passed', 'The message came after the cut-off time'],
  1100: ['other', 'final', 'refused_by_bank', 'The bank refused for a reason that it does not name'],
  9909: ['network', 'later', 'network_unavailable', 'The switch of the network failed'],
  9910: ['bank', 'later', 'bank_unavailable', 'The bank of the receiver is signed off'],
  9912: ['bank', 'later', 'bank_unavailable', 'The bank of the receiver cannot be reached'],
  9914: ['other', 'elsewhere', 'message_refused', 'The message lacks an element'],
  9934: ['bank', 'later', 'source_bank_unavailable', 'The bank of the payer is signed off'],
  9941: ['other', 'elsewhere', 'message_refused', 'The message lacks the identification of a proxy'],
  9946: ['bank', 'later', 'source_bank_unavailable', 'The bank of the payer is suspended'],
  9947: ['bank', 'later', 'bank_unavailable', 'The bank of the receiver is suspended'],
  9948: ['network', 'later', 'network_unavailable', 'The switch of the network is suspended'],
  9952: [
    'other',
    'elsewhere',
    'message_refused',
    'The message cannot be mapped to the version of the receiver',
  ],
  9953: ['other', 'elsewhere', 'message_refused', 'The message lacks a code about remittance'],
  9954: [
    'other',
    'elsewhere',
    'message_refused',
    'The message lacks instructions for the bank of the receiver',
  ],
  9956: [
    'funds',
    'later',
    'source_bank_unavailable',
    'The funding account of the bank of the payer is suspended',
  ],
  9957: ['bank', 'later', 'bank_unavailable', 'The funding account of the bank of the receiver is suspended'],
  9964: ['bank', 'elsewhere', 'bank_invalid', 'The identification of a participant is not valid'],
  NOAT: ['bank', 'elsewhere', 'transaction_not_supported', 'The bank does not support this type of message'],
};

export const REJECT_REASONS: ReadonlyMap<string, RejectReason> = new Map(
  Object.entries(ROWS).map(([code, [about, consequence, failureCode, title]]) => [
    code,
    {
      code,
      title,
      about,
      mayWorkElsewhere: consequence !== 'final',
      temporary: consequence === 'later',
      failureCode,
    },
  ]),
);

export const UNKNOWN_REJECT: Omit<RejectReason, 'code'> = {
  title: 'The payment was rejected for a reason that is not known here',
  about: 'other',
  mayWorkElsewhere: false,
  temporary: false,
  failureCode: 'rejected_by_network',
};

/**
 * The meaning of a code, in any letter case. A code that is not in the table, or a reject without one, is
 * final: somebody who knows the new code has to say first that another rail is right.
 */
export function rejectReason(code: string | null): RejectReason {
  const upper = code?.toUpperCase() ?? '';
  return REJECT_REASONS.get(upper) ?? { code: upper, ...UNKNOWN_REJECT };
}
