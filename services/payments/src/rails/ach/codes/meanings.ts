import type { CodeMeaning } from '../../rail.ts';
import { CHANGE_REASONS, isEntryReturnCode, RETURN_REASONS } from './codes.ts';

export function returnMeaning(networkCode: string): CodeMeaning | undefined {
  const reason = isEntryReturnCode(networkCode) ? RETURN_REASONS.get(networkCode) : undefined;
  return (
    reason && { networkCode, code: reason.failureCode, detail: `The entry was returned: ${reason.title}.` }
  );
}

/** What the operator says of an entry that it does not pass on: the bank named in it takes no part. */
const REFUSED_WITHOUT_CODE = 'R13';

/** The operator refuses entries with codes of the same table. */
export function entryRefusalMeaning(networkCode: string | null): CodeMeaning | undefined {
  const known = networkCode ?? REFUSED_WITHOUT_CODE;
  if (!isEntryReturnCode(known)) return undefined;
  const reason = RETURN_REASONS.get(known);
  return (
    reason && {
      networkCode: known,
      code: reason.failureCode,
      detail: `The operator refused the entry: ${reason.title}.`,
    }
  );
}

/** A notification changes nothing in its payment: only the payment method's owner is told. */
export function changeMeaning(networkCode: string): CodeMeaning | undefined {
  const reason = CHANGE_REASONS.get(networkCode);
  return reason && { networkCode, code: 'details_corrected', detail: `${reason.title}.` };
}
