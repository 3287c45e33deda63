import type { FieldError } from '@libs/runtime';
import { errors } from '../errors.ts';
import { NO_FIELDS } from '../more-fields.ts';
import { AMOUNT_MAX } from './payment.ts';

/** In dollars as well: the dashboard shows it at a field that takes them. */
const AT_MOST = `At most ${AMOUNT_MAX} minor units, which is $${(AMOUNT_MAX / 100).toLocaleString('en-US')}.`;
const TOO_LARGE: readonly FieldError[] = [{ pointer: '/amount', code: 'amount_too_large', detail: AT_MOST }];

/** The schema sets no end to an amount, since more than this is a problem with a code of its own. */
export function tooLargeFields(amount: unknown): readonly FieldError[] {
  return typeof amount === 'number' && amount > AMOUNT_MAX ? TOO_LARGE : NO_FIELDS;
}

export function refuseTooLarge(amount: number | null): void {
  const fields = tooLargeFields(amount);
  if (fields.length > 0) throw errors.amount_too_large({ errors: [...fields] });
}
