import type { CivilDate } from '../../../clock/new-york.ts';
import { isRoutingNumber } from '../../routing-number.ts';
import { toAscii } from '../nacha/ascii.ts';
import { isFileDate, toFileDate } from '../nacha/dates.ts';
import { ADDENDA_05, ENTRY } from '../nacha/layout.ts';
import type { Addenda, Entry } from '../nacha/model.ts';

/** One movement of money to or from one outside account: a payment has one or two of them. */
export type Leg = {
  readonly id: string;
  readonly direction: 'debit' | 'credit';
  readonly amountCents: number;
  readonly routing: string;
  readonly account: string;
  readonly accountType: 'checking' | 'savings';
  readonly holderName: string;
  readonly holderType: 'individual' | 'business';
  readonly effectiveDate: CivilDate;
  /** Text for the receiver. Eighty columns reach them. */
  readonly description?: string | null;
  readonly sec?: OriginatedSec;
  /** What the receiver's statement calls it, ten columns; the originator's word if absent. */
  readonly entryDescription?: string;
  /** The name under which the receiver knows the sender, sixteen columns; the originator's if absent. */
  readonly companyName?: string;
  /** From the window: marks a same-day batch. */
  readonly descriptiveDate?: string;
  /** Tests the account with an amount of zero. */
  readonly prenote?: boolean;
};

export type OriginatedSec = 'PPD' | 'CCD' | 'WEB';

export type LegRefusal =
  | 'routing_number_invalid'
  | 'account_number_invalid'
  | 'amount_invalid'
  | 'effective_date_invalid'
  | 'entry_class_not_allowed';

const ENTRY_AMOUNT_MAX_CENTS = 9_999_999_999;

/** Stands where a name has no letter that ASCII can carry; banks return an entry without a name (R26). */
const NAME_NOT_IN_ASCII = 'ACCOUNT HOLDER';

/** What the rules want a batch of debits to be called that came back for want of money and are presented again. */
export const RETRY_DESCRIPTION = 'RETRY PYMT';

/** Written for every WEB entry: each is a single payment, not one of a standing series. */
const WEB_SINGLE_PAYMENT = 'S';

const TRANSACTION_CODES = {
  checking: { credit: { live: '22', prenote: '23' }, debit: { live: '27', prenote: '28' } },
  savings: { credit: { live: '32', prenote: '33' }, debit: { live: '37', prenote: '38' } },
} as const;

/** Seventeen columns, and no blank at either end. */
const ACCOUNT_NUMBER = /^[\x21-\x7e](?:[\x20-\x7e]{0,15}[\x21-\x7e])?$/;
const CIVIL_DATE = /^20\d\d-\d\d-\d\d$/;

/** Corporate rules for businesses; a consumer who agreed on the internet is debited by WEB and paid by PPD. */
export function chooseSec(leg: Pick<Leg, 'direction' | 'holderType'>): OriginatedSec {
  if (leg.holderType === 'business') return 'CCD';
  return leg.direction === 'debit' ? 'WEB' : 'PPD';
}

/** A corporate class on a consumer's account would be returned as R05, a consumer class on a business has no rule. */
function isSecAllowed(leg: Leg): boolean {
  return leg.sec === undefined || (leg.sec === 'CCD') === (leg.holderType === 'business');
}

function isAmountAllowed(leg: Leg): boolean {
  if (leg.prenote) return leg.amountCents === 0;
  return (
    Number.isSafeInteger(leg.amountCents) && leg.amountCents > 0 && leg.amountCents <= ENTRY_AMOUNT_MAX_CENTS
  );
}

function isEffectiveDate(date: CivilDate): boolean {
  return CIVIL_DATE.test(date) && isFileDate(toFileDate(date));
}

/** Why no bank would take this leg. One bad leg is refused by itself, so that it cannot spoil a file of many. */
export function legRefusals(leg: Leg): LegRefusal[] {
  const checks: [boolean, LegRefusal][] = [
    [isRoutingNumber(leg.routing), 'routing_number_invalid'],
    [ACCOUNT_NUMBER.test(leg.account), 'account_number_invalid'],
    [isAmountAllowed(leg), 'amount_invalid'],
    [isEffectiveDate(leg.effectiveDate), 'effective_date_invalid'],
    [isSecAllowed(leg), 'entry_class_not_allowed'],
  ];
  return checks.filter(([isGood]) => !isGood).map(([, reason]) => reason);
}

export function receiverName(holderName: string): string {
  return toAscii(holderName, ENTRY.individualName.width) || NAME_NOT_IN_ASCII;
}

/** The end of an id is its random part: fifteen columns of it tell a receiver's support which payment it was. */
export function receiverReference(id: string): string {
  return toAscii(id, Number.MAX_SAFE_INTEGER).slice(-ENTRY.individualId.width).trim();
}

function remittance(description: string | null | undefined): Addenda[] {
  const text = toAscii(description ?? '', ADDENDA_05.text.width);
  return text === '' ? [] : [{ type: '05', text }];
}

/** For a leg that `legRefusals` has nothing against. */
export function entryOfGoodLeg(leg: Leg, trace: string): Entry {
  return {
    transactionCode: TRANSACTION_CODES[leg.accountType][leg.direction][leg.prenote ? 'prenote' : 'live'],
    routingNumber: leg.routing,
    accountNumber: leg.account,
    amountCents: leg.amountCents,
    individualId: receiverReference(leg.id),
    individualName: receiverName(leg.holderName),
    discretionaryData: (leg.sec ?? chooseSec(leg)) === 'WEB' ? WEB_SINGLE_PAYMENT : '',
    trace,
    addenda: remittance(leg.description),
  };
}
