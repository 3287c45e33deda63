/** Why a received text is not the message that it should be. */
export type RefusalReason =
  | 'too_large'
  | 'malformed'
  | 'forbidden_markup'
  | 'undefined_entity'
  | 'wrong_namespace'
  | 'wrong_message'
  | 'missing_element'
  | 'unexpected_element'
  | 'unexpected_attribute'
  | 'invalid_value'
  | 'header_mismatch';

export interface Refusal {
  readonly reason: RefusalReason;
  /** Names the place, never a value: details are logged, and values may be account numbers. */
  readonly detail: string;
}

/** Carries a refusal up to the reader's entry, which turns it into a result. It never leaves this folder. */
export class MessageRefused extends Error {
  override readonly name = 'MessageRefused';
  readonly refusal: Refusal;

  constructor(reason: RefusalReason, detail: string) {
    super(`${reason}: ${detail}`);
    this.refusal = { reason, detail };
  }
}
