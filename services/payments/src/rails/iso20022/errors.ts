/**
 * A value that must never reach a message was handed to a builder. Names and free text are mapped, never
 * refused; this is about identifiers, amounts and dates, so it means a fault in the calling code.
 * The value itself is left out of the message, because it may be an account number.
 */
export class MessageFieldError extends Error {
  override readonly name = 'MessageFieldError';
  readonly field: string;

  constructor(field: string, expected: string) {
    super(`field ${field} must be ${expected}`);
    this.field = field;
  }
}
